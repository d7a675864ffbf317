// The halo exchange itself.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parhelion/plan/part.hpp"
#include "parhelion/plan/plan.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion {

struct ExchangeOptions {
    /// "auto", a transport's name, or a hybrid "NEAR+FAR": NEAR for neighbors on the own node, FAR for the others.
    /// Empty: the environment variable PARHELION_TRANSPORT, else "auto".
    std::string transport = {};
    /// A wait longer than this is an error that says who did not answer. 0: the environment variable PARHELION_TIMEOUT, else never.
    double timeout_s = 0;
    /// Threads of this rank that share its large copies, the caller among them. 0: the environment variable PARHELION_THREADS,
    /// else 1. They run on the cores that the rank may use: bind it to as many.
    int threads = 0;
    /// Whether a thread of the library gets the exchange on between begin and end, for transports that get on only while they are
    /// polled. It takes some of a core's time; MPI must have been started with MPI_THREAD_MULTIPLE where MPI moves the data, or
    /// the thread does nothing. False: as the environment variable PARHELION_PROGRESS says (1: yes), else no.
    bool progress_thread = false;
    /// Into how many parts the owned cells are divided for begin_parts; equal on all ranks.
    int parts = 1;
};

/// Refreshes the ghosts of fields, or gives the ghosts' contributions back.
///
/// Construction is collective: it checks that all ranks agree, compiles the plan, and sets up transports. The fields'
/// arrays stay the caller's; they must outlive the exchange and not move. Between begin and end the caller must not
/// write owned cells or touch ghosts (reverse: not touch owned cells that others hold as ghosts, not write ghosts).
/// Every rank begins and ends an exchange the same number of times; different exchanges may be under way at once.
/// begin and end are not collective in MPI's sense: end waits for the neighbors only, begin for nobody. After begin a rank may do
/// anything, wait in MPI for what a neighbor sends after its end of this exchange, or make another exchange (docs/transports.md,
/// "After begin", has the exceptions). No call allocates memory, but for the first begin that leaves a message.
/// Errors: see make_plan; an unknown or impossible transport; begin while under way, end before begin; timeout. After a time limit or
/// a lost neighbor the exchange is of no more use, and MPI may still send from arrays that are not node-shared: free them after
/// MPI_Finalize, or with the process.
///
///     Exchange exchange{build_pattern(domain), {view(domain, u), view(domain, v)}};
///     auto step = exchange.begin();
///     update_interior(u);
///     step.end();
class Exchange {
    struct Impl;

public:
    Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options = {});
    ~Exchange();
    Exchange(Exchange&&) noexcept;
    Exchange& operator=(Exchange&&) noexcept;

    /// An exchange under way. Its destructor ends it if end was not called (and then swallows errors). It may outlive the
    /// Exchange, not the arrays.
    class Step {
    public:
        Step(Step&& other) noexcept = default;
        Step& operator=(Step&&) = delete;
        ~Step();
        /// See Exchange::ready.
        void ready(int part);
        void end();

    private:
        friend class Exchange;
        explicit Step(std::shared_ptr<Impl> impl);
        std::shared_ptr<Impl> impl_;
        std::uint64_t number_;  // of the exchange that it may end: not a later one
    };

    /// Forward: owner → ghost.
    [[nodiscard]] Step begin();
    void operator()();

    /// Forward, for threads that finish their cells at different times. Tell each part's cells by `ready` once, when they have their
    /// values; any thread may, several at once. Over mpi_partitioned a part is packed by the thread that tells it and given to MPI as
    /// soon as a partition of the message is full; other transports begin when the last part is ready. `end` takes parts that nobody
    /// has told of for ready. Until then only cells of parts that are not ready may be written, and ghosts must not be touched.
    ///
    ///     auto step = exchange.begin_parts();          // options: .transport = "mpi_partitioned", .parts = threads
    ///     #pragma omp parallel for
    ///     for (int p = 0; p < exchange.parts(); ++p) update(u, exchange.part(p)), step.ready(p);
    ///     step.end();
    ///
    /// Threads need MPI_THREAD_MULTIPLE for that to be early: with less, what other threads than the one that began have packed is
    /// given to MPI by the next call of that one. Errors of ready: no such part, a part told twice, nothing begun in parts.
    [[nodiscard]] Step begin_parts();
    void ready(int part);
    int parts() const;
    /// Which owned cells of a block the part consists of: a share of the dimension that changes slowest in memory, or of the local
    /// indices of an indexed domain. Local. Errors: no such part or block.
    PartOfBlock part(int part, int block = 0) const;

    /// Reverse: every ghost's value is combined into its owner's, in a fixed order (by rank, then as in the pattern), so
    /// that floating-point sums repeat bit for bit. Ghosts keep their values (with the staged algorithm they do not).
    /// Errors: a reduction that the elements do not have.
    [[nodiscard]] Step begin_reverse(Reduction reduction = Reduction::sum);
    void reverse(Reduction reduction = Reduction::sum);

    /// Ends what begin or begin_reverse started; waits for the neighbors.
    void end();
    bool under_way() const;

    const Plan& plan() const;
    /// Name of what moves the data: "mpi_persistent", "shared+mpi_p2p", …
    std::string transport() const;
    /// Why: what was chosen for which neighbor, and what was measured. For people.
    std::string explain() const;

private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace parhelion

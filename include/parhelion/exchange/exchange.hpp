// The halo exchange itself.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parhelion/core/options.h"
#include "parhelion/exchange/stale.hpp"
#include "parhelion/exchange/step.hpp"
#include "parhelion/plan/bound_arrays.hpp"
#include "parhelion/plan/executor.hpp"
#include "parhelion/plan/only.hpp"
#include "parhelion/plan/plan.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// How an exchange moves its data and how long it waits: core/options.h says what each means.
struct ExchangeOptions {
    PHL_EXCHANGE_OPTIONS(PHL_CPP_OPTION)
};

/// Refreshes the ghosts of fields, or gives the ghosts' contributions back.
///
/// Construction is collective: it checks that all ranks agree, compiles the plan for the fields'
/// layouts, and sets up transports. The arrays stay the caller's. Each call may name others of the
/// same layouts (element, components, strides, halo): temporaries, swapped time levels, memory that
/// was allocated anew. That costs no message and no set-up; each rank names its own. Without any,
/// the arrays of the construction are exchanged. From begin to end arrays must stay where they are,
/// and the caller must not write owned cells or touch ghosts (reverse: not touch owned cells that
/// others hold as ghosts, not write ghosts). Every rank begins and ends an exchange the same number
/// of times; different exchanges may be under way at once. end waits for the neighbors only, begin
/// for nobody: after begin a rank may do anything (docs/transports.md, "After begin", has the
/// exceptions). No call allocates memory, but for the first begin that leaves a message, and where
/// a transport meets memory that it has not seen (docs/transports.md, "Arrays at the call").
/// Errors: see make_plan; an unknown or impossible transport; begin while under way, end before
/// begin; timeout; arrays of another layout, or that share cells: then nothing has begun. After a
/// time limit or a lost neighbor the exchange is of no more use, and MPI may still send from arrays
/// that are not node-shared: free them after MPI_Finalize, or with the process.
///
///     Exchange exchange{domain, {view(domain, u), view(domain, v)}};
///     auto step = exchange.begin();
///     update_interior(u);
///     step.end();
///     std::swap(u, u_before);
///     exchange(view(domain, u), view(domain, v));
///
/// Fields of one grid may live on cells and on points (Field::stagger); they travel together. So
/// do, as groups, fields of several patterns on one communicator, Cartesian and indexed ones mixed:
/// cells and nodes of a mesh, the grids of a hierarchy.
///
///     Exchange both{{{cells, {view(cell_domain, p)}}, {nodes, {view(node_domain, x)}}}};
class Exchange {
    struct Impl;

public:
    Exchange(std::vector<Group> groups, ExchangeOptions options = {});
    Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options = {});
    /// Fields of one grid, of cells and of points: patterns are built for what they live on.
    Exchange(const CartesianDomain& domain, std::vector<Field> fields,
             ExchangeOptions options = {});
    ~Exchange();
    Exchange(Exchange&&) noexcept;
    Exchange& operator=(Exchange&&) noexcept;

    using Step = parhelion::Step;

    /// Forward: owner → ghost. `arrays`: a view for each field, in that order, or a vector of them;
    /// none: those of the construction.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    [[nodiscard]] Step begin(const Arrays&... arrays) {
        return begin_with(ArrayList(arrays...));
    }
    /// All copies follow what is on the queue now, one of the executor of the plan's memory.
    /// Nothing waits for it but the messages, which are sent when they are packed.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    [[nodiscard]] Step begin(Queue& queue, const Arrays&... arrays) {
        return begin_with(ArrayList(arrays...), &queue);
    }
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void operator()(const Arrays&... arrays) {
        run_with(ArrayList(arrays...));
    }
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void operator()(Queue& queue, const Arrays&... arrays) {
        run_with(ArrayList(arrays...), &queue);
    }

    /// Reverse: every ghost's value is combined into its owner's, in a fixed order (by rank, then
    /// as in its pattern), so that floating-point sums repeat bit for bit. With Reduction::sum it
    /// is the adjoint of forward. Ghosts keep their values (with the staged algorithm they do not).
    /// Errors: a reduction that the elements do not have.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    [[nodiscard]] Step begin_reverse(Reduction reduction, const Arrays&... arrays) {
        return begin_reverse_with(reduction, ArrayList(arrays...));
    }
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    [[nodiscard]] Step begin_reverse(Queue& queue, Reduction reduction, const Arrays&... arrays) {
        return begin_reverse_with(reduction, ArrayList(arrays...), &queue);
    }
    [[nodiscard]] Step begin_reverse() { return begin_reverse(Reduction::sum); }
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void reverse(Reduction reduction, const Arrays&... arrays) {
        reverse_with(reduction, ArrayList(arrays...));
    }
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void reverse(Queue& queue, Reduction reduction, const Arrays&... arrays) {
        reverse_with(reduction, ArrayList(arrays...), &queue);
    }
    void reverse() { reverse(Reduction::sum); }

    /// The exchange of a subset: some of the fields, a smaller depth, or both. It is used as any
    /// other, with arrays for the fields that it names, in that order, and may be under way beside
    /// the whole and other subsets that share no cells with it. Local. Its first use, or `prepare`,
    /// is collective, for then its transports are made: those of the whole, without measuring.
    /// Equal subsets are one exchange: asking again finds it, without messages or memory for up to
    /// 16 fields. It stays as long as the whole, and as this handle. Errors: fields that there are
    /// not, or twice; a depth beyond the halos.
    ///
    ///     exchange.only({.fields = {0, 2}, .depth = 1})(view(u), view(w));
    Exchange only(const Only& subset) const;
    /// Collective: what the first use of a subset would do. Nothing where that is done. Errors:
    /// ranks that name different subsets.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void prepare(const Arrays&... arrays) {
        prepare_with(ArrayList(arrays...));
    }

    /// Collective: has `auto` choose anew, where cores or other work have changed. `arrays` as in a
    /// call; their ghosts keep their values. Takes as long as construction. Subsets follow; their
    /// next use is collective. A transport that was asked for by name stays. Errors: while it, or a
    /// subset, is under way; of a subset; a transport's.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void retune(const Arrays&... arrays) {
        retune_with(ArrayList(arrays...));
    }

    /// Collective. Which ghosts of this rank differ from their owners' values, byte by byte: all
    /// that a forward exchange would fill. `arrays` as in a call. It reads arrays only; the first
    /// call takes as much memory as they have, and sets up an exchange over MPI. Errors: while
    /// under way; arrays in device memory; subsets that differ between ranks.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    StaleGhosts stale(const Arrays&... arrays) {
        return stale_with(ArrayList(arrays...));
    }
    /// Collective. Throws Error on every rank, with the first ghost of the lowest rank that has a
    /// stale one, unless there is none.
    template <class... Arrays>
        requires std::constructible_from<ArrayList, const Arrays&...>
    void check(const Arrays&... arrays) {
        check_with(ArrayList(arrays...));
    }

    /// Ends what was begun; waits for the neighbors.
    void end();
    /// The same, but for this rank's copies: what is put on the queue from now on comes after them.
    void end(Queue& queue);
    bool under_way() const;

    /// Why arrays of the layouts of the construction cannot be named at a call of this direction on
    /// this rank (their alignment or kind of memory), empty where they can. Local; not while under
    /// way.
    std::string refusal(Direction direction, const ArrayList& arrays);

    const Plan& plan() const;
    /// Name of what moves the data: "mpi", "shared+mpi", …
    std::string transport() const;
    /// What this rank's node sends to each other node in a forward exchange, and what it would send
    /// from rank to rank; nothing where no transport collects messages between nodes. Local.
    std::vector<NodeTraffic> node_traffic() const;
    /// Why: what was chosen for which neighbor, and what was measured. For people.
    std::string explain() const;

private:
    explicit Exchange(std::shared_ptr<Impl> impl);
    void prepare_with(const ArrayList& arrays);
    void retune_with(const ArrayList& arrays);
    StaleGhosts stale_with(const ArrayList& arrays);
    void check_with(const ArrayList& arrays);
    Step begin_with(const ArrayList& arrays, Queue* queue = nullptr);
    void run_with(const ArrayList& arrays, Queue* queue = nullptr);
    Step begin_reverse_with(Reduction reduction, const ArrayList& arrays, Queue* queue = nullptr);
    void reverse_with(Reduction reduction, const ArrayList& arrays, Queue* queue = nullptr);

    std::shared_ptr<Impl> impl_;
};

}  // namespace parhelion

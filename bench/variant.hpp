#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

/// Seconds of a clock that never goes back.
inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Calls `work` and adds the seconds it took to `total`.
template <class Work>
decltype(auto) timed(double& total, Work&& work) {
    struct Adder {
        double& total;
        double start = now();
        ~Adder() { total += now() - start; }
    } adder{total};
    return work();
}

/// A variant that cannot run here, with the reason. Thrown by every rank or by none; the others
/// go on. (A job or data set that cannot be used is a parhelion::Error and ends the program with
/// status 2.)
struct CannotRun : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What ranks do between the beginning and the end of an exchange: they spin, and touch no array.
struct Work {
    double seconds = 0;  // on the average rank; 0: exchanges are called at once
    double uneven = 0;  // the first rank works so much less than the average, as a share of it, the
                        // last so much more, the others between
    bool any() const { return seconds > 0; }
    double of_rank(int rank, int ranks) const {
        return seconds * (1 + uneven * (ranks > 1 ? 2.0 * rank / (ranks - 1) - 1 : 0));
    }
};

inline void spin(double seconds) {
    for (const double end = now() + seconds; now() < end;) {
    }
}

/// The arrays that a variant works on. Both calls are local.
class Values {
public:
    virtual ~Values() = default;
    /// Writes the round's values into every owned cell and poison into every ghost.
    virtual void refresh(unsigned round) = 0;
    /// How many elements, owned ones and guards around the arrays included, are not what they must
    /// be after an exchange.
    virtual std::int64_t count_wrong(unsigned round) const = 0;
};

/// One message of an exchange; to the own rank it is a copy.
struct Sent {
    int rank = 0;
    std::int64_t bytes = 0;
};

/// Where a message goes, or comes from, and how long it is.
struct Envelope {
    int rank = 0, tag = 0;
    std::size_t bytes = 0;

    int count() const { return static_cast<int>(bytes); }
};

/// What one rank sends to other ranks in one exchange.
struct Traffic {
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    std::vector<Sent> sent = {};  // empty where it is not known
    void add(const Sent& message) {
        bytes += message.bytes;
        ++messages;
        sent.push_back(message);
    }
};

/// Seconds of post-recv, post-send, wait-recv and wait-send.
using Phases = std::array<double, 4>;

/// One way of doing a case's exchange: made once, then run many times.
class Variant {
public:
    virtual ~Variant() = default;
    /// One whole exchange, owner to ghost, of all fields.
    virtual void exchange() = 0;
    virtual void exchange_many(std::int64_t times) {
        for (std::int64_t i = 0; i < times; ++i) exchange();
    }
    /// The same in two halves, for those that can do something between them.
    virtual bool has_halves() const { return false; }
    virtual void begin() {}
    virtual void end() {}
    /// And in the phases that Comb (LLNL) tells apart: adds what each takes. Of two halves the
    /// first is post-send, the second wait-recv.
    virtual void exchange_in_phases(Phases& seconds) {
        timed(seconds[1], [&] { begin(); });
        timed(seconds[2], [&] { end(); });
    }
    virtual Values& values() = 0;
    virtual Traffic traffic() const = 0;
    /// Why it does what it does, for those that choose; null for the others.
    virtual nlohmann::json explain() const { return nullptr; }
    /// True when ranks may change their arrays only after *all* have ended an exchange: the checks
    /// then put a barrier there.
    virtual bool needs_barrier_between_steps() const { return false; }
    /// Of whole applications: one more step, in which `hold` brings the ranks together before each
    /// exchange, and the seconds that this rank then spends inside its exchanges. Waiting for a
    /// rank that computes longer is no part of them.
    virtual std::optional<double> step_held(const std::function<void()>& hold) {
        return (void)hold, std::nullopt;
    }
    /// And the lines of code that their exchange takes; 0: not counted.
    virtual int exchange_lines() const { return 0; }
};

using VariantPointer = std::unique_ptr<Variant>;

/// Seconds that this rank spent on making a variant.
struct SetupTimes {
    double pattern = 0;  // who exchanges what with whom
    double plan = 0;     // buffers, types, requests, compiled copies
};

/// A variant by name, not yet made.
struct Entry {
    std::string name;
    std::string role;  // own, baseline, library or floor
    /// Collective; throws CannotRun on every rank, with the reason, or on none.
    std::function<std::unique_ptr<Variant>(SetupTimes&)> make;
    /// Left out when the job asks for all variants.
    bool only_by_name = false;
    /// Why this build cannot run it on this machine; empty when it can, or when only a run will
    /// tell.
    std::string unavailable = {};
};

/// A case of a benchmark, ready to make its variants.
struct Case {
    std::string name;
    nlohmann::json params;
    std::vector<Entry> entries;
    Work work = {};  // between the halves of each exchange
    bool phases = false;
};

/// A row of a benchmark's table of variants.
template <class Setup>
struct TableRow {
    const char* name;
    const char* role;
    VariantPointer (*make)(const Setup&, SetupTimes&);
    bool only_by_name = false;
};

template <class Setup, std::size_t count>
void add_rows(std::vector<Entry>& entries, const TableRow<Setup> (&table)[count],
              const Setup& setup) {
    for (const TableRow<Setup>& each : table)
        entries.push_back({each.name, each.role,
                           [=](SetupTimes& times) { return each.make(setup, times); },
                           each.only_by_name});
}

/// The entries that a job names, in its order; "all", or no name, stands for all but those that run
/// only by name. Throws Error listing the names there are when one is unknown.
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names);

/// `planted_fault`: a correct variant with one byte of the last rank made wrong, to show that the
/// checks notice and that the program then ends with status 1. Only by name.
Entry planted_fault(MPI_Comm comm, std::function<VariantPointer(SetupTimes&)> correct,
                    std::function<std::byte*(Variant&)> victim);

}  // namespace parhelion::bench

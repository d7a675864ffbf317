#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "work.hpp"

namespace parhelion::bench {

/// The arrays that a contender works on. Both calls are local.
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

/// What one rank sends to other ranks in one exchange.
struct Traffic {
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    std::vector<Sent> sent = {};  // empty where it is not known
};

/// One way of doing a case's exchange: made once, then run many times.
class Contender {
public:
    virtual ~Contender() = default;
    /// One whole exchange, owner to ghost, of all fields.
    virtual void exchange() = 0;
    virtual void exchange_many(std::int64_t times) {
        for (std::int64_t i = 0; i < times; ++i) exchange();
    }
    /// The same in two halves, for those that can do something between them.
    virtual bool has_halves() const { return false; }
    virtual void begin() {}
    virtual void end() {}
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

using ContenderPointer = std::unique_ptr<Contender>;

/// Seconds that this rank spent on making a contender.
struct SetupTimes {
    double pattern = 0;  // who exchanges what with whom
    double plan = 0;     // buffers, types, requests, compiled copies
};

/// A contender by name, not yet made.
struct Entry {
    std::string name;
    std::string role;  // own, baseline, peer or floor
    /// Collective; throws CannotRun on every rank, with the reason, or on none.
    std::function<std::unique_ptr<Contender>(SetupTimes&)> make;
    /// Left out when the job asks for all contenders.
    bool only_by_name = false;
    /// Why this build cannot run it on this machine; empty when it can, or when only a run will
    /// tell.
    std::string unavailable = {};
};

/// A case of a benchmark, ready to make its contenders.
struct Case {
    std::string name;
    nlohmann::json params;
    std::vector<Entry> entries;
    Work work = {};  // between the halves of each exchange
};

}  // namespace parhelion::bench

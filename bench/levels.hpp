#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contender.hpp"
#include "parhelion/core/communicator.hpp"
#include "parhelion/placement/placed_comm.hpp"

namespace parhelion::bench {

/// The innermost unit of the machine that two ranks share: which level each message stays within.
class Levels {
public:
    /// Collective. Where all ranks sit; levels within which some rank is not bound are not told
    /// apart.
    explicit Levels(const Communicator& comm);

    /// Collective. {"own_rank": {"messages", "bytes"}, …, "node", "other_node", "busiest_node"}:
    /// sums over all ranks, and what leaves the node that most leaves. Null where some rank's
    /// messages are not known.
    nlohmann::json count(const Traffic& traffic) const;

private:
    struct Sum {
        std::int64_t messages = 0, bytes = 0;
        void add(const Sent& sent) { ++messages, bytes += sent.bytes; }
    };
    std::size_t level_of(int rank) const;
    Sum busiest(Sum leaving) const;

    Communicator comm_;
    placement::Discovered here_;
    std::vector<int> positions_;      // of all ranks
    std::vector<std::string> names_;  // from the own rank outwards
};

}  // namespace parhelion::bench

#pragma once

#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Which cpus each rank may run on. The same on every rank.
struct Binding {
    std::vector<std::string> hosts;      // by rank
    std::vector<std::vector<int>> cpus;  // by rank, ascending
    std::string by;                      // launcher, self or none
    std::vector<int> cores;  // by rank: how many cores the ranks of its host have between them

    /// Whether two ranks are on one host, each on a single cpu that is not the other's.
    bool on_own_cores(int rank, int other) const;
};

/// Collective. With `bind`, ranks that the launcher left free on their node take one cpu each, the
/// i-th rank of the node the i-th in the order of `core_by_core`, beginning again where ranks
/// outnumber cpus. Ranks that the launcher did bind stay as they are.
Binding bind_ranks(const Communicator& comm, bool bind);

/// Collective. Whether the ranks of a node cannot all run at the same time.
bool more_ranks_than_cpus(const Communicator& node);

}  // namespace parhelion::bench

#pragma once

#include <mpi.h>

#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Which ranks share a node, for all nodes: an alltoall talks to every rank anyhow.
struct NodeMap {
    /// Collective.
    explicit NodeMap(const Communicator& comm);

    std::vector<std::vector<int>>
        members;   // of each node, ascending; nodes in the order of their first ranks
    int mine = 0;  // this rank's node

    int nodes() const { return static_cast<int>(members.size()); }
    const std::vector<int>& of(int node) const { return members[static_cast<std::size_t>(node)]; }
    /// Place among the ranks of `node` of the one that talks to `other` for all of them.
    int speaker(int node, int other) const { return other % static_cast<int>(of(node).size()); }
};

}  // namespace parhelion::bench

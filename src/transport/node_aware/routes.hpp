// Who of a node carries what to another node.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"
#include "pattern/words.hpp"

namespace parhelion {

/// Collective: what each rank of this node tells, by rank on the node. Messages per rank: two, but
/// on the first rank. They go by tags of `comm`, which ranks agree on again after one has failed.
std::vector<Words> tell_node(const Communicator& comm, const Words& mine);

/// What a rank sends to another node. A node's number is the lowest rank on it.
struct Owed {
    int node = 0;
    byte_count bytes = 0;  ///< of its part of the collected message; 0: it only receives from there
    std::int64_t pairs = 0, bytes_in_pairs = 0;  ///< messages and bytes from rank to rank instead

    void put(Words& words) const;
    static Owed get(WordReader& words);
};

/// All that a node has to do with another. Every rank of the node has the same.
struct Route {
    struct Part {
        int node_rank, slice;
        byte_count offset, bytes;
    };
    int node = 0;
    std::vector<int> candidates;  ///< ranks of the communicator that have a neighbor there; whoever
                                  ///< is first has the first message
    std::vector<byte_count> slices;  ///< bytes of each message
    std::vector<Part> parts;         ///< of what goes there, by rank
    std::int64_t pairs = 0, bytes_in_pairs = 0;

    const Part* part_of(int node_rank) const;
    int candidate(int rank) const;  ///< which of them the rank of the communicator is
};

/// The rank that sends, or receives, message `slice` of `slices` between two nodes: candidates of
/// its node, far from each other where there are fewer messages than ranks, so that they are of
/// several sockets.
inline int carrier(const std::vector<int>& candidates, std::size_t slice, std::size_t slices) {
    return candidates[slice * candidates.size() / slices % candidates.size()];
}

/// By number of the other node. `owed[r]`: what rank r of this node, which is `ranks[r]` of the
/// communicator, sends to which nodes, nodes from which it receives among them. Parts begin at
/// multiples of `alignment`, a power of 2.
std::vector<Route> make_routes(const std::vector<int>& ranks,
                               const std::vector<std::vector<Owed>>& owed, byte_count alignment);

}  // namespace parhelion

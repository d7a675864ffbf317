// Who of a node carries what, and where it lies.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "parhelion/transport/transport.hpp"
#include "transport/messenger.hpp"
#include "transport/node_aware/routes.hpp"
#include "transport/node_aware/slices.hpp"

namespace parhelion {

/// What one rank has to do in each exchange with other nodes, in one direction.
struct NodeWork {
    std::vector<int> ranks;  ///< of the node
    int node_rank = 0;
    std::vector<NodeTraffic> traffic;  ///< of the node
    std::vector<Route> routes;         ///< to the nodes of this rank's neighbors
    std::vector<Slot> slots;           ///< by link
    std::vector<Given> given;
    std::vector<Read> reads;
    std::vector<Carried> sent, got;
    std::shared_ptr<std::byte> memory;           ///< of what it carries
    std::deque<std::vector<local_index>> lists;  ///< that programs use

    const Route& route_to(int node) const { return *std::ranges::find(routes, node, &Route::node); }
};

/// Collective. What the node's ranks tell is gathered at its first rank and spread: no rank sends more than a few letters, none knows of
/// a node with which its own has nothing to do. The context's links are those to other nodes.
NodeWork set_up_node(const TransportContext& context);

/// One channel with each rank of another node to which, or from which, this one carries a message; it has one tag in both directions.
/// Of exchanges with this number, mod 2.
std::vector<Channel> make_channels(NodeWork& work, std::uint64_t number);

}  // namespace parhelion

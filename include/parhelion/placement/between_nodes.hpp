// What goes from node to node, rank by rank and where each node's is collected, and what the
// exchange takes then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/score.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// What a node sends to another in one exchange.
struct NodePair {
    int from = 0, to = 0;
    std::int64_t pairs = 0, bytes_in_pairs = 0;  ///< messages and bytes from rank to rank
    std::int64_t messages = 0;                   ///< of the transport node_aware
    std::int64_t bytes = 0;  ///< of these: each cell that some rank over there needs once; −1 where
                             ///< cells are not known
};

/// All nodes that have something to send to another, by `from` and `to`. `nodes` is the node of
/// every grid point, the last dimension fastest. Exact, if all ranks have `stencil.extent` cells,
/// for halos no wider than these. Local; looks at every grid point. Errors: another number of
/// points; see check_bytes.
std::vector<NodePair> node_pairs(const ProcessGrid& grid, const Stencil& stencil,
                                 const std::vector<int>& nodes);

/// Messages and bytes that nodes send, of all nodes and of those that send the most messages or
/// bytes; bytes −1: not known.
struct NodeMessages {
    std::int64_t messages = 0, bytes = 0, busiest_messages = 0, busiest_bytes = 0;

    friend bool operator==(const NodeMessages&, const NodeMessages&) = default;
};

/// From rank to rank, and where each node's are collected.
struct BetweenNodes {
    NodeMessages pairwise, aggregated;

    friend bool operator==(const BetweenNodes&, const BetweenNodes&) = default;
};
/// The sums over all pairs, and the most of a node. Local.
BetweenNodes between_nodes(const std::vector<NodePair>& pairs);

/// What messages and bytes cost, as `parhelion model fit` finds it out.
struct ExchangeCosts {
    /// Of a message whose outermost boundary is this level's, and of a byte that leaves the unit
    /// that most leave.
    struct Level {
        double message_s = 0, byte_s = 0;
    };
    std::map<std::string, Level> levels = {};
    double copied_byte_s = 0;  ///< of what the ranks of a NUMA domain (else socket, node) send
    double fixed_s = 0;
};

/// Seconds that the model predicts for an exchange with messages between nodes collected: those of
/// the busiest node go one after another; inside nodes each rank sends its own. Errors: see
/// node_pairs; a stencil that does not tell which cells travel.
double predicted_seconds(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
                         const Scores& scores, const std::vector<int>& positions,
                         const ExchangeCosts& costs);

/// The node of each of these positions.
std::vector<int> nodes_of(const Machine& machine, const std::vector<int>& positions);

}  // namespace parhelion::placement

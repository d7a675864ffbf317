// Traffic between nodes, rank to rank or aggregated per node, and the predicted exchange time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/score.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// Traffic from one node to another in one exchange.
struct NodePair {
  int from = 0, to = 0;
  std::int64_t pairs = 0, bytes_in_pairs = 0;  ///< rank to rank
  std::int64_t messages = 0;                   ///< of the transport node_aware
  std::int64_t bytes = 0;  ///< of these: each cell once per destination node; −1: cells unknown
};

/// All communicating pairs, sorted by `from` and `to`. `nodes`: of every grid point, last dimension
/// fastest. Exact if every rank has `stencil.extent` cells and the halo is no wider. Local, O(grid
/// points). Throws Error for another number of points, and as check_bytes.
std::vector<NodePair> node_pairs(
    const ProcessGrid& grid, const Stencil& stencil, const std::vector<int>& nodes);

/// What nodes send: totals and the busiest node's. Bytes −1: unknown.
struct NodeMessages {
  std::int64_t messages = 0, bytes = 0, busiest_messages = 0, busiest_bytes = 0;

  friend bool operator==(const NodeMessages&, const NodeMessages&) = default;
};

/// Rank to rank, and aggregated per node.
struct BetweenNodes {
  NodeMessages pairwise, aggregated;

  friend bool operator==(const BetweenNodes&, const BetweenNodes&) = default;
};
/// Sums over all pairs, and maxima over nodes. Local.
BetweenNodes between_nodes(const std::vector<NodePair>& pairs);

/// As fitted by `parhelion model fit`.
struct ExchangeCosts {
  /// Per message with this outermost boundary, and per byte leaving its busiest unit.
  struct Level {
    double message_s = 0, byte_s = 0;
  };
  std::map<std::string, Level> levels = {};
  double copied_byte_s = 0;  ///< per byte that the ranks of a NUMA domain (else socket, node) send
  double fixed_s = 0;
};

/// For an exchange with messages aggregated per node: the busiest node sends its messages one after
/// another; inside nodes each rank sends its own. Throws Error as node_pairs, and if the stencil
/// does not specify the cells.
double predicted_seconds(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
    const Scores& scores, const std::vector<int>& positions, const ExchangeCosts& costs);

/// Node of each position.
std::vector<int> nodes_of(const Machine& machine, const std::vector<int>& positions);

}  // namespace parhelion::placement

// The machine model: ranks in hierarchical order, and their units at every level.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion::placement {

/// Distribution of a node's ranks over its units.
enum class Binding : std::uint8_t {
  spread,  ///< evenly at every level: 64 ranks on 128 cores take every second core
  compact  ///< cores in order, one rank each: 64 ranks on 128 cores leave the second socket empty
};

/// Canonical name of a level: "socket" and "package" → "pack". Throws Error if unknown.
std::string level_name(const std::string& text);

/// Units of a node: `starts[l][u]` is the first local rank in unit u of inner level l; one more
/// entry ends the last. Boundaries of a level are also those of all inner levels.
struct NodeShape {
  int ranks = 0;
  std::vector<std::vector<int>> starts;

  friend auto operator<=>(const NodeShape&, const NodeShape&) = default;
};

/// Identical nodes before ranks are assigned: level names, node first, and a node's units with one
/// rank per innermost one.
struct Topology {
  int nodes = 1;
  std::vector<std::string> levels;
  NodeShape units;
  std::string source = {};  ///< of the description
};

/// Parses "node:27 pack:2 numa:4 l3:4 core:4", names as in level_name. Throws Error for: an unknown
/// or repeated level, a count below 1, node not first, more than limits.hpp allows.
Topology parse_topology(const std::string& text);

/// "here": `nodes` nodes like this one, from Linux' /sys. "xml:FILE": from hwloc or lstopo. Else
/// as parse_topology, with `nodes` 0 or their number. Local, reads files. Throws Error if the file
/// is unreadable, not hwloc XML or without processors, or the number of nodes does not fit.
Topology describe_nodes(const std::string& text, int nodes);

/// Ranks in hierarchical order: positions 0, 1, … run through node 0, its first socket, that
/// socket's first NUMA domain, …
///
/// Units are thus intervals of positions, placements bijections from grid points to positions.
/// Memory: O(nodes).
class Machine {
 public:
  /// Throws Error for: no node, shapes of different depth, boundaries not nested or not ending at
  /// `ranks`.
  Machine(std::vector<std::string> levels, std::vector<NodeShape> shapes,
      std::vector<int> shape_of_node);

  int size() const { return first_position_.back(); }
  int nodes() const { return static_cast<int>(shape_of_node_.size()); }
  int levels() const { return static_cast<int>(level_names_.size()); }
  /// Level names, outermost first; level 0 is the node.
  const std::vector<std::string>& level_names() const { return level_names_; }

  /// Nodes of equal shape share an id.
  const NodeShape& shape(int node) const { return shapes_[shape_of_node_[node]]; }
  int shape_id(int node) const { return shape_of_node_[node]; }
  const std::vector<NodeShape>& shapes() const { return shapes_; }
  int first_position(int node) const { return first_position_[node]; }

  bool uniform() const { return shapes_.size() == 1; }

  /// Node of a position. O(log nodes).
  int node_of(int position) const;
  /// Unit at level `l` (0: node), numbered over the machine, empty units included.
  int unit_of(int l, int position) const;
  /// The same, numbered within its node; the node's number for level 0.
  int unit_in_node(int l, int position) const;
  int units(int l) const { return first_unit_[l].back(); }

 private:
  std::vector<std::string> level_names_;
  std::vector<NodeShape> shapes_;
  std::vector<int> shape_of_node_;
  std::vector<int> first_position_;           ///< per node; last: ranks
  std::vector<std::vector<int>> first_unit_;  ///< per level and node; last: units
};

/// Distributes `ranks_per_node` ranks (one number, or one per node) over each node's units. Throws
/// Error for a node without ranks, or a list of another length.
Machine make_machine(const Topology& topology, const std::vector<int>& ranks_per_node,
    Binding binding = Binding::spread);

}  // namespace parhelion::placement

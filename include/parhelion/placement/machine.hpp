// The machine as placement sees it: ranks in their hierarchical order, and the unit that each is in
// at every level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parhelion::placement {

/// How the ranks of a node are dealt to its sockets, NUMA domains, caches and cores.
enum class Binding : std::uint8_t {
    spread,  ///< as evenly as possible at every level: 64 ranks on 128 cores take every second core
    compact  ///< cores in order, one rank each: 64 ranks on 128 cores leave the second socket empty
};

/// The level's name among those known, e.g. "socket" → "pack". Errors: unknown.
std::string level_name(const std::string& text);

/// The units inside one node: `starts[l][u]` is the first of the node's ranks in unit u of inner
/// level l; one more entry closes the last unit. Nested: every boundary of a level is one of the
/// levels inside it.
struct NodeShape {
    int ranks = 0;
    std::vector<std::vector<int>> starts;

    friend bool operator==(const NodeShape&, const NodeShape&) = default;
};

/// Equal nodes before they have ranks: names of the levels, the node first, and the units of a node
/// as if each unit of the innermost level had one rank.
struct Topology {
    int nodes = 1;
    std::vector<std::string> levels;
    NodeShape units;
};

/// "node:27 pack:2 numa:4 l3:4 core:4". Known levels: node, pack, numa, l3, l2, core, pu, and their
/// usual other names (machine, socket, package, thread, …). Errors: unknown or repeated level, a
/// count below 1, no level, node not first, more nodes or units than placement takes (limits.hpp).
Topology parse_topology(const std::string& text);

/// Nodes, and where their description comes from.
struct Described {
    Topology topology;
    std::string source;
};
/// "here": so many nodes like this one, as Linux' /sys describes it.
/// "xml:FILE": like the one that hwloc or lstopo described. Else see parse_topology; `nodes` is 0
/// or their number. Local, reads files. Errors: a file that is unreadable, no hwloc's XML or
/// without processors; no nodes, or another number of them.
Described describe_nodes(const std::string& text, int nodes);

/// Ranks in hierarchical order: positions 0, 1, … run through node 0, its first socket, that one's
/// first NUMA domain …
///
/// Whatever a machine looks like, a unit of any level is an interval of positions. A placement is
/// therefore a bijection from grid points to positions, and this class translates positions to
/// units. Memory: O(nodes).
class Machine {
public:
    /// Errors: no node, shapes of different depth, boundaries that are not nested or do not end at
    /// `ranks`.
    Machine(std::vector<std::string> levels, std::vector<NodeShape> shapes,
            std::vector<int> shape_of_node);

    int size() const { return first_position_.back(); }
    int nodes() const { return static_cast<int>(shape_of_node_.size()); }
    int levels() const { return static_cast<int>(level_names_.size()); }
    /// Names of the levels, outermost first; level 0 is the node.
    const std::string& level(int l) const { return level_names_[l]; }
    const std::vector<std::string>& level_names() const { return level_names_; }

    /// What is inside each node; nodes of one shape have one number.
    const NodeShape& shape(int node) const { return shapes_[shape_of_node_[node]]; }
    int shape_id(int node) const { return shape_of_node_[node]; }
    const std::vector<NodeShape>& shapes() const { return shapes_; }
    int first_position(int node) const { return first_position_[node]; }

    bool uniform() const { return shapes_.size() == 1; }

    /// Node of a position. O(log nodes).
    int node_of(int position) const;
    /// Unit at level `l` (0 is the node), counted over the whole machine, empty units included.
    int unit_of(int l, int position) const;
    /// The same, counted within its node; the node's number for level 0.
    int unit_in_node(int l, int position) const;
    int units(int l) const { return first_unit_[l].back(); }

private:
    std::vector<std::string> level_names_;
    std::vector<NodeShape> shapes_;
    std::vector<int> shape_of_node_;
    std::vector<int> first_position_;           ///< per node, and the end
    std::vector<std::vector<int>> first_unit_;  ///< per level and node, and the end
};

/// Deals `ranks_per_node` ranks (one number for all nodes, or one per node) to the units of each
/// node. Errors: a node with no rank, a list of another length than the number of nodes.
Machine make_machine(const Topology& topology, const std::vector<int>& ranks_per_node,
                     Binding binding = Binding::spread);

}  // namespace parhelion::placement

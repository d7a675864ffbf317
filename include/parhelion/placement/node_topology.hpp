// What one node is made of: from hwloc (live or XML), from Linux' /sys, or from a synthetic description.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"

namespace parhelion::placement {

/// Numbers of hardware threads as the operating system counts them, ascending.
using CpuSet = std::vector<int>;

/// The units of one node, outermost level first: pack, numa, l3, l2, core, pu as far as they exist. The units of a
/// level do not overlap and each lies inside one unit of the level around it; l2, die and pu are left out where they
/// repeat another level.
struct NodeTopology {
    /// One kind of unit, and the hardware threads of each.
    struct Level {
        std::string name;
        std::vector<CpuSet> units;
    };
    std::vector<Level> levels;
    std::string source;  ///< "hwloc 2.9.0", "file x.xml", "linux sysfs", …
    std::string note;    ///< what a better source would have given; empty when nothing is missing
};

/// This machine, now. hwloc is loaded at run time where it is installed (the variable PARHELION_HWLOC names another
/// library, or "none"); without it Linux' own description is read, and the note says so. Local, reads files.
NodeTopology detect_node_topology();

/// An XML file that lstopo or hwloc wrote (versions 1 and 2 of the format).
/// Errors: unreadable, not hwloc's XML, no processor in it.
NodeTopology read_hwloc_xml(const std::string& path);
NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source);

/// Linux' /sys/devices below `root`. Empty levels where there is nothing to read.
NodeTopology read_sysfs(const std::string& root = "/sys/devices");

/// Levels sorted by nesting, without those that cut through another.
NodeTopology nested(NodeTopology topology);

/// The kinds of units counted level by level, when every unit of a level has equally many parts; else nothing.
/// `nodes` becomes the outermost level.
std::optional<Topology> regular(const NodeTopology& node, int nodes);

/// A node's ranks sorted into its units.
struct SortedRanks {
    NodeShape shape;
    std::vector<int> order;  ///< local ranks in hierarchical order
};

/// How many levels, from the outermost in, have every rank bound within one unit. Fewer than the node has when ranks
/// are not bound, or bound to several units.
int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings);

/// Sorts ranks by the units that they are bound to, at the first `levels` levels. Ranks of one unit keep their order.
SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels);

/// Machine of equal nodes with `ranks_per_node` ranks dealt to the cores of this node.
Machine machine_of_nodes(const NodeTopology& node, const std::vector<int>& ranks_per_node, Binding binding);

/// Hardware threads on which the calling process may run. Local.
CpuSet current_binding();

/// "0-3,8" ↔ {0, 1, 2, 3, 8}
CpuSet parse_cpu_list(const std::string& text);
std::string to_string(const CpuSet& cpus);

}  // namespace parhelion::placement

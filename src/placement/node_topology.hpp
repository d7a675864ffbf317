// What one node is made of: from hwloc's XML or from Linux' /sys.
#pragma once

#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"

namespace parhelion::placement {

/// Numbers of hardware threads as the operating system counts them, ascending.
using CpuSet = std::vector<int>;

/// The units of one node, outermost level first: pack, numa, l3, l2, core, pu as far as they exist.
/// The units of a level do not overlap and each lies inside one unit of the level around it; l2,
/// die and pu are left out where they repeat another level.
struct NodeTopology {
    struct Level {
        std::string name;
        std::vector<CpuSet> units;  ///< the hardware threads of each
    };
    std::vector<Level> levels;
    std::string source;  ///< "file x.xml", "linux sysfs", …
};

/// The XML that lstopo or hwloc wrote (versions 1 and 2 of the format), or the file that holds it.
/// Errors: unreadable, not hwloc's XML, no processor in it.
NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source);
NodeTopology read_hwloc_xml(const std::string& path);

/// This machine, now: Linux' /sys/devices, below `root`. Empty levels where there is nothing to
/// read. Local, reads files.
NodeTopology read_sysfs(const std::string& root = "/sys/devices");

/// Levels sorted by nesting, without those that cut through another.
NodeTopology nested(NodeTopology topology);

Topology topology_of(const NodeTopology& node, int nodes);

struct SortedRanks {
    NodeShape shape;
    std::vector<int> order;  ///< local ranks in hierarchical order
};

/// How many levels, from the outermost in, have every rank bound within one unit. Fewer than the
/// node has when ranks are not bound, or bound to several units.
int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings);

/// Sorts ranks by the units that they are bound to, at the first `levels` levels. Ranks of one unit
/// keep their order.
SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels);

/// "0-3,8" → {0, 1, 2, 3, 8}
CpuSet parse_cpu_list(const std::string& text);

}  // namespace parhelion::placement

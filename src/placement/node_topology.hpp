// Topology of one node, from hwloc's XML or Linux' /sys.
#pragma once

#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"

namespace parhelion::placement {

/// Hardware thread numbers of the operating system, ascending.
using CpuSet = std::vector<int>;

/// The units of one node, outermost level first: pack, numa, l3, l2, core, pu, if present. Units of
/// a level are disjoint, each inside one unit of the enclosing level. Omits l2, die and pu if they
/// duplicate another level.
struct NodeTopology {
  struct Level {
    std::string name;
    std::vector<CpuSet> units;  ///< the hardware threads of each
  };
  std::vector<Level> levels;
  std::string source;  ///< "file x.xml", "linux sysfs", …
};

/// Parses XML from lstopo or hwloc (formats 1 and 2), or the file that contains it. Throws Error if
/// unreadable, not hwloc XML, or without processors.
NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source);
NodeTopology read_hwloc_xml(const std::string& path);

/// Reads this machine's topology from Linux' /sys/devices (`root`). No levels if there is nothing
/// to read. Local, reads files.
NodeTopology read_sysfs(const std::string& root = "/sys/devices");

Topology topology_of(const NodeTopology& node, int nodes);

struct SortedRanks {
  NodeShape shape;
  std::vector<int> order;  ///< local ranks in hierarchical order
};

/// Number of outermost levels at which every rank is bound within one unit.
int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings);

/// Sorts ranks by their units at the first `levels` levels. Stable within a unit.
SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels);

/// "0-3,8" → {0, 1, 2, 3, 8}
CpuSet parse_cpu_list(const std::string& text);

/// Words of a text.
std::vector<std::string> names_in(const std::string& text);

}  // namespace parhelion::placement

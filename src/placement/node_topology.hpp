// Topology of one node, from hwloc's XML or Linux' /sys.
#pragma once

#include <string>
#include <vector>

#include "parhelion/placement/machine.hpp"

namespace parhelion::placement {

/// Hardware thread numbers of the operating system, ascending.
using CpuSet = std::vector<int>;

/// A node's units, outermost level first: pack, numa, l3, l2, core, pu, if present. A level's units
/// are disjoint, each inside one of the enclosing level. Omits l2, die and pu if they duplicate
/// another level.
struct NodeTopology {
  struct Level {
    std::string name;
    std::vector<CpuSet> units;  ///< the hardware threads of each
  };
  std::vector<Level> levels;
  std::string source;  ///< "file x.xml", "linux sysfs", …
};

/// XML from lstopo or hwloc (formats 1 and 2), or a file of it. Throws Error if unreadable, not
/// hwloc XML, or without processors.
NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source);
NodeTopology read_hwloc_xml(const std::string& path);

/// This machine's topology from Linux' /sys/devices (`root`), without levels if there is nothing to
/// read. Local, reads files.
NodeTopology read_sysfs(const std::string& root = "/sys/devices");

Topology topology_of(const NodeTopology& node, int nodes);

struct SortedRanks {
  NodeShape shape;
  std::vector<int> order;  ///< local ranks in hierarchical order
};

/// Number of outermost levels at which every rank is bound within one unit.
int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings);

/// By units of the first `levels` levels; stable within a unit.
SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels);

/// "0-3,8" → {0, 1, 2, 3, 8}
CpuSet parse_cpu_list(const std::string& text);

/// Words of a text.
std::vector<std::string> names_in(const std::string& text);

}  // namespace parhelion::placement

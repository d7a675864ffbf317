#include "node_topology.hpp"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <sstream>

#include "core/concat.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

namespace fs = std::filesystem;

bool inside(const CpuSet& inner, const CpuSet& outer) {
  return std::ranges::includes(outer, inner);
}

auto cpus_in(const std::vector<CpuSet>& units) {
  return std::ranges::distance(units | std::views::join);
}

int unit_around(const std::vector<CpuSet>& units, const CpuSet& cpus) {
  const auto found =
      std::ranges::find_if(units, [&](const CpuSet& unit) { return inside(cpus, unit); });
  return cpus.empty() || found == units.end() ? -1 : static_cast<int>(found - units.begin());
}

// Levels that are kept only if they differ from their neighbors.
bool optional_level(const std::string& name) {
  return name == "l2" || name == "die" || name == "pu";
}

// Drops levels that cut across another.
NodeTopology nested(NodeTopology topology) {
  std::vector<NodeTopology::Level> kept;
  std::erase_if(topology.levels, [](const auto& level) { return level.units.empty(); });
  // Larger units first. Of levels of equally many units, the first stays, e.g. a package that is
  // also the NUMA domain.
  std::ranges::stable_sort(
      topology.levels, {}, [](const auto& level) { return level.units.size(); });
  for (auto& level : topology.levels) {
    const auto* around = kept.empty() ? nullptr : &kept.back().units;
    // By enclosing unit: those inside one are contiguous.
    const auto unit_of = [&](const CpuSet& unit) {
      return around ? unit_around(*around, unit) : 0;
    };
    std::ranges::stable_sort(level.units, {},
        [&](const CpuSet& unit) { return std::pair(unit_of(unit), unit.front()); });
    if (around && (cpus_in(level.units) != cpus_in(*around) || unit_of(level.units.front()) < 0))
      continue;
    const bool repeats = around && level.units == *around;
    if (repeats && optional_level(level.name)) continue;
    if (repeats && optional_level(kept.back().name)) kept.pop_back();
    kept.push_back(std::move(level));
  }
  topology.levels = std::move(kept);
  return topology;
}

// Adds a unit once; memory without processors is none.
void add_unit(NodeTopology& topology, const std::string& name, CpuSet cpus) {
  if (cpus.empty()) return;
  auto level = std::ranges::find(topology.levels, name, &NodeTopology::Level::name);
  if (level == topology.levels.end())
    level = topology.levels.insert(topology.levels.end(), {name, {}});
  if (std::ranges::find(level->units, cpus) == level->units.end())
    level->units.push_back(std::move(cpus));
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Entries named prefix + number, by number.
// Not by std::filesystem, which ends the program where memory is short.
std::map<int, fs::path> numbered(const fs::path& directory, const std::string& prefix) {
  struct Close {
    void operator()(DIR* open) const { closedir(open); }
  };
  std::map<int, fs::path> found;
  const std::unique_ptr<DIR, Close> open(opendir(directory.c_str()));
  while (const dirent* const entry = open ? readdir(open.get()) : nullptr) {
    const std::string name = entry->d_name;
    const auto digits = name.substr(std::min(prefix.size(), name.size()));
    if (name.starts_with(prefix) && !digits.empty() && std::ranges::all_of(digits, ::isdigit))
      found.emplace(std::stoi(digits), directory / name);
  }
  return found;
}

CpuSet listed(const fs::path& path) { return parse_cpu_list(first_line(path)); }

CpuSet sharing_cache(const fs::path& cpu, const std::string& level) {
  for (const auto& [number, cache] : numbered(cpu / "cache", "index"))
    if (first_line(cache / "level") == level && first_line(cache / "type") != "Instruction")
      return listed(cache / "shared_cpu_list");
  return {};
}

// name="value" in a tag. hwloc escapes only characters that do not occur in these attributes.
std::string attribute(const std::string& tag, const std::string& name) {
  const auto at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) return "";
  const auto begin = at + name.size() + 3;
  return tag.substr(begin, tag.find('"', begin) - begin);
}

// "0x0000000f,0xffffffff": 32 bits each, most significant first.
CpuSet parse_bitmap(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.insert(words.begin(), word);
  CpuSet cpus;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (int bit = 0; bit < 32; ++bit)
      if (std::strtoul(words[i].c_str(), nullptr, 16) >> bit & 1)
        cpus.push_back(static_cast<int>(32 * i) + bit);
  return cpus;
}

// Level of an object by hwloc's type. Format 1 wrote caches as type "Cache" with a depth.
std::string level_of(const std::string& tag) {
  static const std::map<std::string, std::string> levels{{"Package", "pack"}, {"Socket", "pack"},
      {"NUMANode", "numa"}, {"Die", "die"}, {"L3Cache", "l3"}, {"Cache3", "l3"}, {"L2Cache", "l2"},
      {"Cache2", "l2"}, {"Core", "core"}, {"PU", "pu"}};
  const auto type = attribute(tag, "type");
  const auto known = levels.find(type == "Cache" ? type + attribute(tag, "depth") : type);
  return known == levels.end() ? "" : known->second;
}

}  // namespace

CpuSet parse_cpu_list(const std::string& text) {
  CpuSet cpus;
  std::istringstream stream(text);
  for (int first = 0; stream >> first; stream.ignore()) {
    int last = first;
    if (stream.peek() == '-') stream.ignore() >> last;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<std::string> names_in(const std::string& text) {
  std::istringstream stream(text);
  using Names = std::istream_iterator<std::string>;
  return {Names(stream), Names()};
}

NodeTopology read_sysfs(const std::string& root) {
  NodeTopology topology{
      {{"pack", {}}, {"numa", {}}, {"l3", {}}, {"l2", {}}, {"core", {}}, {"pu", {}}},
      "linux sysfs"};
  for (const auto& [number, cpu] : numbered(fs::path(root) / "system/cpu", "cpu")) {
    const CpuSet core = listed(cpu / "topology/thread_siblings_list");
    if (core.empty()) continue;  // offline
    add_unit(topology, "pack", listed(cpu / "topology/core_siblings_list"));
    add_unit(topology, "l3", sharing_cache(cpu, "3"));
    add_unit(topology, "l2", sharing_cache(cpu, "2"));
    add_unit(topology, "core", core);
    add_unit(topology, "pu", {number});
  }
  for (const auto& [number, node] : numbered(fs::path(root) / "system/node", "node"))
    add_unit(topology, "numa", listed(node / "cpulist"));
  return nested(std::move(topology));
}

NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source) {
  NodeTopology topology{{}, source};
  if (text.find("<topology") == std::string::npos)
    refuse(source, " is not a topology of hwloc: write one with 'lstopo --of xml FILE.xml'");
  for (std::size_t at = 0; (at = text.find("<object", at)) != std::string::npos;) {
    const auto end = text.find('>', at);
    if (end == std::string::npos) refuse(source, " ends within an object: it was cut off");
    const std::string tag = text.substr(at, end - at), name = level_of(tag);
    at = end;
    if (!name.empty()) add_unit(topology, name, parse_bitmap(attribute(tag, "cpuset")));
  }
  if (topology.levels.empty())
    refuse(
        source, " describes no processor: write it with 'lstopo --of xml' on the machine itself");
  return nested(std::move(topology));
}

NodeTopology read_hwloc_xml(const std::string& path) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem))
    refuse("cannot read the topology ", path, ": it is not a regular file, check the path");
  std::ifstream file(path, std::ios::binary);
  std::string text(most_topology_bytes + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())
    refuse("cannot read the topology ", path, ": check its permissions");
  if (file.gcount() > most_topology_bytes)
    refuse("the topology ", path, " has more than ", most_topology_bytes, " bytes: no node's has");
  text.resize(file.gcount());
  return parse_hwloc_xml(text, "file " + path);
}

Topology topology_of(const NodeTopology& node, int nodes) {
  Topology topology{nodes, {"node"}, {1, {}}, node.source};
  for (const auto& level : node.levels) topology.levels.push_back(level.name);
  if (!node.levels.empty())
    topology.units =
        sort_ranks(node, node.levels.back().units, static_cast<int>(node.levels.size())).shape;
  return topology;
}

Topology describe_nodes(const std::string& text, int nodes) {
  if (text != "here" && !text.starts_with("xml:")) {
    Topology described = parse_topology(text);
    if (nodes > 0 && described.nodes != nodes)
      refuse("topology '", text, "' has ", described.nodes, " nodes, but ", nodes,
          " are requested: make them agree");
    return described;
  }
  if (nodes < 1 || nodes > most_nodes)
    refuse("the machine has ", nodes, " nodes, placement takes 1 to at most ", most_nodes,
        ": describe a smaller machine");
  return topology_of(text == "here" ? read_sysfs() : read_hwloc_xml(text.substr(4)), nodes);
}

int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings) {
  const auto unusable = std::ranges::find_if(node.levels, [&](const auto& level) {
    return std::ranges::any_of(
        bindings, [&](const CpuSet& cpus) { return unit_around(level.units, cpus) < 0; });
  });
  return static_cast<int>(unusable - node.levels.begin());
}

SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels) {
  SortedRanks sorted{{static_cast<int>(bindings.size()), {}}, std::vector<int>(bindings.size())};
  std::iota(sorted.order.begin(), sorted.order.end(), 0);
  const auto unit = [&](int level, int rank) {
    return unit_around(node.levels[level].units, bindings[rank]);
  };
  // Innermost units are already in hierarchical order.
  if (levels > 0)
    std::ranges::stable_sort(sorted.order, {}, [&](int rank) { return unit(levels - 1, rank); });
  for (int l = 0; l < levels; ++l) {
    auto& starts = sorted.shape.starts.emplace_back(node.levels[l].units.size() + 1);
    for (const int rank : sorted.order) ++starts[unit(l, rank) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
  }
  return sorted;
}

}  // namespace parhelion::placement

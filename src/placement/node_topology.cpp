#include "node_topology.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

namespace fs = std::filesystem;

bool inside(const CpuSet& inner, const CpuSet& outer) {
    return std::ranges::includes(outer, inner);
}

std::size_t cpus_in(const std::vector<CpuSet>& units) {
    return std::accumulate(units.begin(), units.end(), std::size_t{0},
                           [](auto n, const auto& u) { return n + u.size(); });
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

std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Entries of a directory named prefix + number, by number.
std::map<int, fs::path> numbered(const fs::path& directory, const std::string& prefix) {
    std::map<int, fs::path> found;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(directory, problem)) {
        const auto name = entry.path().filename().string();
        const auto digits = name.substr(std::min(prefix.size(), name.size()));
        if (name.starts_with(prefix) && !digits.empty() && std::ranges::all_of(digits, ::isdigit))
            found.emplace(std::stoi(digits), entry.path());
    }
    return found;
}

std::string cache_list(const fs::path& cpu, const std::string& level) {
    for (const auto& [number, cache] : numbered(cpu / "cache", "index"))
        if (first_line(cache / "level") == level && first_line(cache / "type") != "Instruction")
            return first_line(cache / "shared_cpu_list");
    return "";
}

}  // namespace

CpuSet parse_cpu_list(const std::string& text) {
    CpuSet cpus;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        int first = 0, last = 0;
        const char* end = item.data() + item.size();
        const auto begin = std::from_chars(item.data(), end, first);
        if (begin.ec != std::errc{}) continue;
        last = first;
        if (begin.ptr != end && *begin.ptr == '-') std::from_chars(begin.ptr + 1, end, last);
        for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

NodeTopology read_sysfs(const std::string& root) {
    NodeTopology topology{
        {{"pack", {}}, {"numa", {}}, {"l3", {}}, {"l2", {}}, {"core", {}}, {"pu", {}}},
        "linux sysfs"};
    // Every CPU lists the CPUs that share a resource with it; each distinct list is a unit.
    const auto add = [&](int level, const std::string& list) {
        auto& units = topology.levels[level].units;
        if (CpuSet cpus = parse_cpu_list(list);
            !cpus.empty() && std::ranges::find(units, cpus) == units.end())
            units.push_back(std::move(cpus));
    };
    for (const auto& [number, cpu] : numbered(fs::path(root) / "system/cpu", "cpu")) {
        const auto core = first_line(cpu / "topology/thread_siblings_list");
        if (core.empty()) continue;  // offline
        add(0, first_line(cpu / "topology/core_siblings_list"));
        add(2, cache_list(cpu, "3"));
        add(3, cache_list(cpu, "2"));
        add(4, core);
        add(5, std::to_string(number));
    }
    for (const auto& [number, node] : numbered(fs::path(root) / "system/node", "node"))
        add(1, first_line(node / "cpulist"));
    return nested(std::move(topology));
}

NodeTopology nested(NodeTopology topology) {
    std::vector<NodeTopology::Level> kept;
    std::erase_if(topology.levels, [](const auto& level) { return level.units.empty(); });
    // Larger units first. Among levels of equally many units, the first stays, e.g. a package that
    // is also the NUMA domain.
    std::ranges::stable_sort(topology.levels, {},
                             [](const auto& level) { return level.units.size(); });
    for (auto& level : topology.levels) {
        const auto* around = kept.empty() ? nullptr : &kept.back().units;
        // Order units by enclosing unit, so that those inside one unit are contiguous.
        const auto unit_of = [&](const CpuSet& unit) {
            return around ? unit_around(*around, unit) : 0;
        };
        std::ranges::stable_sort(level.units, {}, [&](const CpuSet& unit) {
            return std::pair(unit_of(unit), unit.front());
        });
        if (around &&
            (cpus_in(level.units) != cpus_in(*around) || unit_of(level.units.front()) < 0))
            continue;
        const bool repeats = around && level.units == *around;
        if (repeats && optional_level(level.name)) continue;
        if (repeats && optional_level(kept.back().name)) kept.pop_back();
        kept.push_back(std::move(level));
    }
    topology.levels = std::move(kept);
    return topology;
}

Topology topology_of(const NodeTopology& node, int nodes) {
    Topology topology{nodes, {"node"}, {1, {}}};
    for (const auto& level : node.levels) topology.levels.push_back(level.name);
    if (!node.levels.empty())
        topology.units =
            sort_ranks(node, node.levels.back().units, static_cast<int>(node.levels.size())).shape;
    return topology;
}

Described describe_nodes(const std::string& text, int nodes) {
    if (text != "here" && !text.starts_with("xml:")) {
        Described described{parse_topology(text), "description '" + text + "'"};
        if (nodes > 0 && described.topology.nodes != nodes)
            throw Error(concat("topology '", text, "' has ", described.topology.nodes,
                               " nodes, but ", nodes, " are asked for: make them agree"));
        return described;
    }
    if (nodes < 1 || nodes > most_nodes)
        throw Error(concat("the machine has ", nodes, " nodes, placement takes 1 to at most ",
                           most_nodes, ": describe a smaller machine"));
    const auto node = text == "here" ? read_sysfs() : read_hwloc_xml(text.substr(4));
    return {topology_of(node, nodes), node.source};
}

int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings) {
    int usable = 0;
    for (const auto& level : node.levels) {
        if (std::ranges::any_of(
                bindings, [&](const CpuSet& cpus) { return unit_around(level.units, cpus) < 0; }))
            break;
        ++usable;
    }
    return usable;
}

SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels) {
    SortedRanks sorted{{static_cast<int>(bindings.size()), {}}, std::vector<int>(bindings.size())};
    std::iota(sorted.order.begin(), sorted.order.end(), 0);
    const auto unit = [&](int level, int rank) {
        return unit_around(node.levels[level].units, bindings[rank]);
    };
    // Units of the innermost level are already in hierarchical order.
    if (levels > 0)
        std::ranges::stable_sort(sorted.order, {},
                                 [&](int rank) { return unit(levels - 1, rank); });
    for (int l = 0; l < levels; ++l) {
        auto& starts = sorted.shape.starts.emplace_back(node.levels[l].units.size() + 1);
        for (const int rank : sorted.order) ++starts[unit(l, rank) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
    }
    return sorted;
}

}  // namespace parhelion::placement

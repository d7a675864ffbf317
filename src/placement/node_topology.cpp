#include "parhelion/placement/node_topology.hpp"

#include <algorithm>
#include <numeric>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

bool inside(const CpuSet& inner, const CpuSet& outer) { return std::ranges::includes(outer, inner); }

bool all_inside(const std::vector<CpuSet>& inner, const std::vector<CpuSet>& outer) {
    return std::ranges::all_of(
        inner, [&](const CpuSet& unit) { return std::ranges::any_of(outer, [&](const CpuSet& around) { return inside(unit, around); }); });
}

std::size_t cpus_in(const std::vector<CpuSet>& units) {
    return std::accumulate(units.begin(), units.end(), std::size_t{0}, [](auto n, const auto& u) { return n + u.size(); });
}

// The unit that holds all of these cpus, or −1.
int unit_around(const std::vector<CpuSet>& units, const CpuSet& cpus) {
    if (cpus.empty()) return -1;
    const auto found = std::ranges::find_if(units, [&](const CpuSet& unit) { return inside(cpus, unit); });
    return found == units.end() ? -1 : static_cast<int>(found - units.begin());
}

// Units in the order of the units around them, so that the parts of a unit stand together.
void sort_units(const std::vector<CpuSet>* around, std::vector<CpuSet>& units) {
    std::ranges::stable_sort(units, {},
                             [&](const CpuSet& unit) { return std::pair(around ? unit_around(*around, unit) : 0, unit.front()); });
}

// Levels of interest only where they differ from the level that they would repeat.
bool optional_level(const std::string& name) { return name == "l2" || name == "die" || name == "pu"; }

}  // namespace

NodeTopology nested(NodeTopology topology) {
    std::vector<NodeTopology::Level> kept;
    std::erase_if(topology.levels, [](const auto& level) { return level.units.empty(); });
    // Larger units first. Among equally many the first named stays, e.g. the package that is also the NUMA domain.
    std::ranges::stable_sort(topology.levels, {}, [](const auto& level) { return level.units.size(); });
    for (auto& level : topology.levels) {
        const auto* around = kept.empty() ? nullptr : &kept.back().units;
        sort_units(around, level.units);
        const bool covers = kept.empty() || cpus_in(level.units) == cpus_in(kept.back().units);
        if (!covers || (around && !all_inside(level.units, *around))) continue;
        const bool repeats = around && level.units == *around;
        if (repeats && optional_level(level.name)) continue;
        if (repeats && optional_level(kept.back().name)) kept.pop_back();
        kept.push_back(std::move(level));
    }
    topology.levels = std::move(kept);
    return topology;
}

std::optional<Topology> regular(const NodeTopology& node, int nodes) {
    Topology topology{{{"node", nodes}}};
    std::size_t around = 1;
    for (const auto& level : node.levels) {
        if (level.units.size() % around != 0) return {};
        const auto parts = level.units.size() / around;
        const auto* outer = topology.levels.size() > 1 ? &node.levels[topology.levels.size() - 2].units : nullptr;
        for (std::size_t u = 0; outer && u < level.units.size(); ++u)
            if (!inside(level.units[u], (*outer)[u / parts])) return {};
        topology.levels.push_back({level.name, static_cast<int>(parts)});
        around = level.units.size();
    }
    return topology;
}

int usable_levels(const NodeTopology& node, const std::vector<CpuSet>& bindings) {
    int usable = 0;
    for (const auto& level : node.levels) {
        if (std::ranges::any_of(bindings, [&](const CpuSet& cpus) { return unit_around(level.units, cpus) < 0; })) break;
        ++usable;
    }
    return usable;
}

SortedRanks sort_ranks(const NodeTopology& node, const std::vector<CpuSet>& bindings, int levels) {
    SortedRanks sorted;
    sorted.shape.ranks = static_cast<int>(bindings.size());
    sorted.order.resize(bindings.size());
    std::iota(sorted.order.begin(), sorted.order.end(), 0);
    const auto unit = [&](int level, int rank) {
        return unit_around(node.levels[static_cast<std::size_t>(level)].units, bindings[static_cast<std::size_t>(rank)]);
    };
    // Units of the innermost level stand in hierarchical order already.
    if (levels > 0) std::ranges::stable_sort(sorted.order, {}, [&](int rank) { return unit(levels - 1, rank); });
    for (int l = 0; l < levels; ++l) {
        const auto units = node.levels[static_cast<std::size_t>(l)].units.size();
        std::vector<int> starts(units + 1, 0);
        for (const int rank : sorted.order) ++starts[static_cast<std::size_t>(unit(l, rank)) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        sorted.shape.starts.push_back(std::move(starts));
    }
    return sorted;
}

Machine machine_of_nodes(const NodeTopology& node, const std::vector<int>& ranks_per_node, Binding binding) {
    if (const auto topology = regular(node, static_cast<int>(ranks_per_node.size())))
        return make_machine(*topology, ranks_per_node, binding);
    const auto& cores = node.levels.back().units;
    std::vector<std::string> names{"node"};
    for (const auto& level : node.levels) names.push_back(level.name);
    std::vector<NodeShape> shapes;
    std::vector<int> shape_of_node;
    for (const int ranks : ranks_per_node) {
        if (ranks < 1 || ranks > most_ranks)
            throw Error("a node has " + std::to_string(ranks) + " ranks: give 1 to " + std::to_string(most_ranks) +
                        ", and leave empty nodes out");
        auto known = std::ranges::find(shapes, ranks, &NodeShape::ranks);
        if (known == shapes.end()) {
            const auto n = static_cast<int>(cores.size());
            const bool even = binding == Binding::spread || ranks > n;
            std::vector<CpuSet> bindings;
            for (int rank = 0; rank < ranks; ++rank)
                bindings.push_back(cores[static_cast<std::size_t>(even ? static_cast<std::int64_t>(rank) * n / ranks : rank)]);
            known = shapes.insert(shapes.end(), sort_ranks(node, bindings, static_cast<int>(node.levels.size())).shape);
        }
        shape_of_node.push_back(static_cast<int>(known - shapes.begin()));
    }
    return Machine(names, shapes, shape_of_node);
}

}  // namespace parhelion::placement

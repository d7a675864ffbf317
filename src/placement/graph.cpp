#include "parhelion/placement/graph.hpp"

#include <algorithm>
#include <numeric>

#include "metis.hpp"
#include "parhelion/core/checked.hpp"
#include "refine.hpp"

namespace parhelion::placement {
namespace {

Neighborhood neighborhood_of(const Machine& machine, const std::vector<PartEdges>& graph) {
    const auto parts = static_cast<int>(graph.size());
    if (parts != machine.size())
        throw Error("the graph has " + std::to_string(parts) + " parts but the machine " + std::to_string(machine.size()) +
                    " ranks: partition for as many parts as there are ranks");
    std::vector<std::vector<Neighborhood::Edge>> to(graph.size());
    std::int64_t all = 0;
    for (std::size_t p = 0; p < graph.size(); ++p)
        for (std::size_t e = 0; e < graph[p].part.size(); ++e) {
            const int target = graph[p].part[e];
            if (target < 0 || target >= parts || e >= graph[p].bytes.size())
                throw Error("part " + std::to_string(p) + " sends to part " + std::to_string(target) + ", but parts are " +
                            "numbered from 0 to " + std::to_string(parts - 1) + " and need bytes for every edge");
            if (graph[p].bytes[e] < 0)
                throw Error("part " + std::to_string(p) + " sends " + std::to_string(graph[p].bytes[e]) + " bytes to part " +
                            std::to_string(target) + ": give 0 or more");
            all = checked_sum(all, graph[p].bytes[e], "the number of bytes that all parts send");
            to[p].push_back({target, graph[p].bytes[e]});
        }
    return Neighborhood(std::move(to));
}

Scores scores_of(const Machine& machine, const Neighborhood& graph, const std::vector<int>& positions) {
    Scores scores;
    for (int l = 0; l < machine.levels(); ++l) {
        std::vector<LevelScore> units(static_cast<std::size_t>(machine.units(l)));
        for (int p = 0; p < graph.points(); ++p) {
            const int here = machine.unit_of(l, positions[static_cast<std::size_t>(p)]);
            for (const auto& edge : graph.to(p))
                if (machine.unit_of(l, positions[static_cast<std::size_t>(edge.point)]) != here)
                    ++units[static_cast<std::size_t>(here)].edges_sum, units[static_cast<std::size_t>(here)].bytes_sum += edge.bytes;
        }
        LevelScore total;
        for (const auto& unit : units) {
            total.edges_sum += unit.edges_sum, total.edges_max = std::max(total.edges_max, unit.edges_sum);
            total.bytes_sum += unit.bytes_sum, total.bytes_max = std::max(total.bytes_max, unit.bytes_sum);
        }
        scores.push_back(total);
    }
    return scores;
}

// Boundaries of the non-empty units of a level between two positions.
std::vector<int> boundaries(const Machine& machine, int level, int first, int last) {
    std::vector<int> starts{first};
    for (int p = first + 1; p < last; ++p)
        if (machine.unit_of(level, p) != machine.unit_of(level, p - 1)) starts.push_back(p);
    starts.push_back(last);
    return starts;
}

// A cut gives about equal parts, units have exact sizes: vertices go, cut part after cut part, to the units in order.
std::vector<int> in_order_of_cut(const std::vector<int>& vertices, const std::vector<int>& part) {
    std::vector<std::size_t> order(vertices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return part[i]; });
    std::vector<int> sorted;
    for (const auto i : order) sorted.push_back(vertices[i]);
    return sorted;
}

// Fills positions first … first + vertices.size() − 1, one level after another.
bool dissect(const Machine& machine, const Neighborhood& graph, std::vector<int> vertices, int level, int first,
             std::vector<int>& positions, std::string& why) {
    if (level == machine.levels() || vertices.size() == 1) {
        for (std::size_t i = 0; i < vertices.size(); ++i)
            positions[static_cast<std::size_t>(vertices[i])] = first + static_cast<int>(i);
        return true;
    }
    const auto starts = boundaries(machine, level, first, first + static_cast<int>(vertices.size()));
    if (starts.size() > 2) {
        const auto part = cut_with_metis(graph, vertices, static_cast<int>(starts.size()) - 1, why);
        if (!part) return false;
        vertices = in_order_of_cut(vertices, *part);
    }
    for (std::size_t u = 0; u + 1 < starts.size(); ++u)
        if (!dissect(machine, graph, {vertices.begin() + (starts[u] - first), vertices.begin() + (starts[u + 1] - first)},
                     level + 1, starts[u], positions, why))
            return false;
    return true;
}

}  // namespace

GraphPlacement place_graph(const Machine& machine, const std::vector<PartEdges>& graph, Objective objective) {
    const Neighborhood neighborhood = neighborhood_of(machine, graph);
    std::vector<int> blocked(graph.size());
    std::iota(blocked.begin(), blocked.end(), 0);
    GraphPlacement best;
    best.position_of_part = blocked;
    best.scores = best.scores_blocked = scores_of(machine, neighborhood, blocked);
    best.chosen = "blocked";
    const auto consider = [&](const std::vector<int>& positions, const std::string& name) {
        const Scores scores = scores_of(machine, neighborhood, positions);
        if (objective_key(scores, objective) >= objective_key(best.scores, objective)) return;
        best.position_of_part = positions, best.scores = scores, best.chosen = name;
    };
    const auto consider_refined = [&](std::vector<int> positions, const std::string& name) {
        refine(machine, neighborhood, objective, positions);
        consider(positions, name + " + refined");
    };
    std::vector<int> cut(graph.size()), all = blocked;
    if (dissect(machine, neighborhood, all, 0, 0, cut, best.note)) {
        consider(cut, "METIS");
        consider_refined(cut, "METIS");
    }
    consider_refined(blocked, "blocked");
    return best;
}

PartEdges edges_of(const Pattern& pattern, int bytes_per_cell) {
    PartEdges edges;
    for (const auto& stage : pattern.stages)
        for (const auto& link : stage) {
            std::int64_t cells = link.send_unique;
            for (const auto& piece : link.send.boxes) cells += piece.cells.cells();
            if (cells == 0) continue;
            edges.part.push_back(link.rank);
            edges.bytes.push_back(checked_product({cells, bytes_per_cell}, "the number of bytes that a rank sends"));
        }
    return edges;
}

}  // namespace parhelion::placement

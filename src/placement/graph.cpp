#include "parhelion/placement/graph.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "placement/problem.hpp"
#include "refine.hpp"

namespace parhelion::placement {
namespace {

Neighborhood neighborhood_of(const Machine& machine, const std::vector<PartEdges>& graph) {
    const auto parts = static_cast<int>(graph.size());
    if (parts != machine.size())
        throw Error(concat("the graph has ", parts, " parts but the machine ", machine.size(),
                           " ranks: partition for as many parts as there are ranks"));
    std::vector<std::vector<Neighborhood::Edge>> to(graph.size());
    std::int64_t all = 0;
    for (std::size_t p = 0; p < graph.size(); ++p)
        for (std::size_t e = 0; e < graph[p].part.size(); ++e) {
            const int target = graph[p].part[e];
            if (target < 0 || target >= parts || e >= graph[p].bytes.size())
                throw Error(concat("part ", p, " sends to part ", target, ", but parts are ",
                                   "numbered from 0 to ", parts - 1,
                                   " and need bytes for every edge"));
            if (graph[p].bytes[e] < 0)
                throw Error(concat("part ", p, " sends ", graph[p].bytes[e], " bytes to part ",
                                   target, ": give 0 or more"));
            all = checked_sum(all, graph[p].bytes[e], "the number of bytes that all parts send");
            to[p].push_back({target, graph[p].bytes[e]});
        }
    return Neighborhood(std::move(to));
}

Scores scores_of(const Machine& machine, const Units& units, const Neighborhood& graph,
                 const std::vector<int>& positions) {
    return score_edges(machine, units, positions, [&](int part, const auto& visit) {
        for (const auto& edge : graph.to(part)) visit(edge.point, edge.bytes);
    });
}

// Boundaries of the non-empty units of a level between two positions; level −1: the whole machine.
std::vector<int> boundaries(const Machine& machine, int level, int first, int last) {
    std::vector<int> starts{first};
    for (int p = first + 1; level >= 0 && p < last; ++p)
        if (machine.unit_of(level, p) != machine.unit_of(level, p - 1)) starts.push_back(p);
    starts.push_back(last);
    return starts;
}

// METIS's parts are only about equal, but units have exact sizes: greedily moves the vertices with
// the least loss from oversized to undersized parts.
class Balance {
public:
    Balance(const Neighborhood& graph, const std::vector<int>& vertices,
            const std::vector<int>& part, std::vector<int> room)
        : graph_(graph), vertices_(vertices), room_(std::move(room)),
          part_of_(static_cast<std::size_t>(graph.points()), -1) {
        for (std::size_t i = 0; i < vertices.size(); ++i) {
            part_of_[vertices[i]] = part[i];
            --room_[part[i]];
        }
    }

    std::vector<int> sorted() {
        while (std::ranges::min(room_) < 0) move_one();
        std::vector<int> sorted = vertices_;
        std::ranges::stable_sort(sorted, {}, [&](int v) { return part(v); });
        return sorted;
    }

private:
    int part(int vertex) const { return part_of_[vertex]; }

    void move_one() {
        std::int64_t best = std::numeric_limits<std::int64_t>::min();
        int mover = 0, target = 0;
        std::vector<std::int64_t> bytes(room_.size());
        for (const int v : vertices_) {
            if (room_[part(v)] >= 0) continue;
            std::ranges::fill(bytes, 0);
            for (const auto* edges : {&graph_.to(v), &graph_.from(v)})
                for (const auto& edge : *edges)
                    if (part(edge.point) >= 0) bytes[part(edge.point)] += edge.bytes;
            for (std::size_t u = 0; u < room_.size(); ++u)
                if (const auto gain = bytes[u] - bytes[part(v)]; room_[u] > 0 && gain > best)
                    best = gain, mover = v, target = static_cast<int>(u);
        }
        ++room_[part(mover)];
        --room_[target];
        part_of_[mover] = target;
    }

    const Neighborhood& graph_;
    const std::vector<int>& vertices_;
    std::vector<int> room_;  // free slots per part
    std::vector<int> part_of_;
};

// Traffic leaving the units of `level` inside one enclosing unit; independent of everything
// outside.
std::pair<std::int64_t, std::int64_t> key_of(const Machine& machine, const Neighborhood& graph,
                                             Objective objective, int level, int first, int last,
                                             const std::vector<int>& parts,
                                             const std::vector<int>& positions) {
    const int offset = machine.unit_of(level, first);
    std::vector<std::int64_t> leaving(
        static_cast<std::size_t>(machine.unit_of(level, last - 1) - offset + 1));
    for (const int p : parts) {
        const int unit = machine.unit_of(level, positions[p]);
        for (const auto& edge : graph.to(p))
            if (machine.unit_of(level, positions[edge.point]) != unit)
                leaving[unit - offset] += edge.bytes;
    }
    const std::int64_t sum = std::accumulate(leaving.begin(), leaving.end(), std::int64_t{0}),
                       largest = *std::ranges::max_element(leaving);
    return objective == Objective::jsum ? std::pair{sum, largest} : std::pair{largest, sum};
}

// Improves the placement of a graph level after level. Cuts the parts inside each enclosing unit
// several times, each time from another order. Then repeatedly recuts a few heavily communicating
// units together. Local search improves every cut; improvements are kept.
class LevelByLevel {
public:
    LevelByLevel(const Machine& machine, const Neighborhood& graph, Objective objective,
                 std::vector<int> positions)
        : machine_(machine), graph_(graph), objective_(objective),
          positions_(std::move(positions)) {
        std::int64_t edges = 1;
        for (int p = 0; p < graph.points(); ++p)
            edges += static_cast<std::int64_t>(graph.to(p).size());
        tries_ =
            static_cast<int>(std::clamp<std::int64_t>(most_edges / edges, least_tries, most_tries));
    }

    void place(int level) {
        around_ = boundaries(machine_, level - 1, 0, machine_.size());
        parts_ = parts_around();
        auto searched = positions_;
        improve(level, searched, false);
        std::int64_t work = 0;
        for (int attempt = 0; attempt < tries_ && work < most_work_of_cuts && why.empty();
             ++attempt)
            if (auto cut = positions_; cut_all(level, cut)) work += improve(level, cut, true);
        int again = again_per_unit * machine_.units(level) / static_cast<int>(parts_.size());
        for (work = 0; again-- > 0 && work < most_work_again && why.empty();) {
            parts_ = parts_around();
            auto cut = positions_;
            const auto moved = cut_again(level, cut);
            if (moved.empty()) break;
            work += improve(level, cut, true, moved) + graph_.points();
        }
    }

    const std::vector<int>& positions() const { return positions_; }
    bool by_metis = false;
    std::string why;  // reason why METIS failed

private:
    static constexpr std::size_t most_cut_again = 4;
    static constexpr int again_per_unit = 16;
    static constexpr std::int64_t most_edges = 100'000, least_tries = 4, most_tries = 32,
                                  most_work_of_cuts = 2 * most_work,
                                  most_work_again = 6 * most_work;

    std::vector<std::vector<int>> parts_around() const {
        std::vector<int> at(positions_.size());
        for (std::size_t p = 0; p < positions_.size(); ++p) at[positions_[p]] = static_cast<int>(p);
        std::vector<std::vector<int>> parts;
        for (std::size_t u = 0; u + 1 < around_.size(); ++u)
            parts.emplace_back(at.begin() + around_[u], at.begin() + around_[u + 1]);
        return parts;
    }

    bool cut_all(int level, std::vector<int>& positions) {
        for (std::size_t u = 0; u < parts_.size(); ++u) {
            const auto starts = boundaries(machine_, level, around_[u], around_[u + 1]);
            const int units = static_cast<int>(starts.size()) - 1;
            if (units < 2) continue;
            auto parts = parts_[u];
            shuffle(parts);
            const auto cut = cut_with_metis(graph_, parts, units, why);
            if (!cut) return false;
            std::vector<int> room(starts.begin() + 1, starts.end());
            for (std::size_t i = 0; i < room.size(); ++i) room[i] -= starts[i];
            parts = Balance(graph_, parts, *cut, std::move(room)).sorted();
            for (std::size_t i = 0; i < parts.size(); ++i)
                positions[parts[i]] = around_[u] + static_cast<int>(i);
        }
        return true;
    }

    void shuffle(std::vector<int>& parts) {
        for (std::size_t left = parts.size(); left > 1; --left)
            std::swap(parts[left - 1], parts[random_() % left]);
    }

    // A random unit, and some of those that it sends most to: ascending indices into `starts`.
    std::vector<std::size_t> some_that_exchange(const std::vector<int>& parts,
                                                const std::vector<int>& starts, int first) {
        const auto unit_of = [&](int position) {
            return static_cast<std::size_t>(std::ranges::upper_bound(starts, position) -
                                            starts.begin() - 1);
        };
        const std::size_t count = starts.size() - 1, chosen = random_() % count;
        std::vector<std::pair<std::int64_t, std::size_t>> bytes(count);
        for (std::size_t unit = 0; unit < count; ++unit) bytes[unit].second = unit;
        for (int position = starts[chosen]; position < starts[chosen + 1]; ++position)
            for (const auto& edge : graph_.to(parts[position - first]))
                if (const int there = positions_[edge.point];
                    there >= first && there < starts.back())
                    bytes[unit_of(there)].first += edge.bytes;
        std::ranges::sort(bytes, std::greater<>{});
        std::vector<std::size_t> found{chosen};
        for (const auto& [sent, unit] : bytes)
            if (unit != chosen && sent > 0 && found.size() < most_cut_again && random_() % 3 != 0)
                found.push_back(unit);
        if (found.size() == 1) found.push_back((chosen + 1) % count);
        std::ranges::sort(found);
        return found;
    }

    // In each enclosing unit, recuts a few units that communicate heavily. Returns their parts.
    std::vector<int> cut_again(int level, std::vector<int>& positions) {
        std::vector<int> moved;
        for (std::size_t u = 0; u < parts_.size(); ++u) {
            const auto starts = boundaries(machine_, level, around_[u], around_[u + 1]);
            if (starts.size() < 4) continue;  // cut_all covers two units
            const auto units = some_that_exchange(parts_[u], starts, around_[u]);
            std::vector<int> parts, room;
            for (const auto unit : units) {
                const auto first = parts_[u].begin() - around_[u];
                parts.insert(parts.end(), first + starts[unit], first + starts[unit + 1]);
                room.push_back(starts[unit + 1] - starts[unit]);
            }
            shuffle(parts);
            const auto cut = cut_with_metis(graph_, parts, static_cast<int>(units.size()), why);
            if (!cut) return {};
            parts = Balance(graph_, parts, *cut, std::move(room)).sorted();
            std::size_t next = 0;
            for (const auto unit : units)
                for (int position = starts[unit]; position < starts[unit + 1]; ++position)
                    positions[parts[next++]] = position;
            moved.insert(moved.end(), parts.begin(), parts.end());
        }
        return moved;
    }

    std::int64_t improve(int level, std::vector<int>& candidate, bool cut,
                         const std::vector<int>& moved = {}) {
        const std::int64_t work =
            refine_level(machine_, graph_, objective_, level, candidate, most_work, moved);
        for (std::size_t u = 0; u < parts_.size(); ++u) {
            const auto key = [&](const auto& positions) {
                return key_of(machine_, graph_, objective_, level, around_[u], around_[u + 1],
                              parts_[u], positions);
            };
            if (key(candidate) >= key(positions_)) continue;
            for (const int p : parts_[u]) positions_[p] = candidate[p];
            by_metis |= cut;
        }
        return work;
    }

    const Machine& machine_;
    const Neighborhood& graph_;
    Objective objective_;
    std::vector<int> positions_, around_;
    std::vector<std::vector<int>> parts_;  // per enclosing unit, ordered by position
    std::mt19937_64 random_{1};
    int tries_;
};

}  // namespace

GraphPlacement place_graph(const Machine& machine, const std::vector<PartEdges>& graph,
                           Objective objective) {
    const Neighborhood neighborhood = neighborhood_of(machine, graph);
    std::vector<int> blocked(graph.size());
    std::iota(blocked.begin(), blocked.end(), 0);
    GraphPlacement best;
    best.position_of_part = blocked;
    const Units units(machine);
    best.scores = best.scores_blocked = scores_of(machine, units, neighborhood, blocked);
    best.chosen = "blocked";
    LevelByLevel search(machine, neighborhood, objective, blocked);
    for (int level = 0; level < machine.levels(); ++level)
        if (has_several_ranks(machine, level)) search.place(level);
    best.note = search.why;
    const Scores scores = scores_of(machine, units, neighborhood, search.positions());
    if (objective_key(scores, objective) >= objective_key(best.scores, objective)) return best;
    best.position_of_part = search.positions(), best.scores = scores;
    best.chosen = search.by_metis ? "METIS + refined" : "blocked + refined";
    return best;
}

PartEdges edges_of(const Pattern& pattern, int bytes_per_cell) {
    PartEdges edges;
    for (const auto& stage : pattern.stages)
        for (const auto& link : stage) {
            const std::int64_t cells = link.cells_sent();
            if (cells == 0) continue;
            edges.part.push_back(link.rank);
            edges.bytes.push_back(
                checked_product({cells, bytes_per_cell}, "the number of bytes that a rank sends"));
        }
    return edges;
}

}  // namespace parhelion::placement

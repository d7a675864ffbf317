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
    refuse("the graph has ", parts, " parts, but the machine has ", machine.size(),
        " ranks: partition the graph into one part per rank");
  std::vector<std::vector<Neighborhood::Edge>> to(graph.size());
  std::int64_t all = 0;
  for (std::size_t p = 0; p < graph.size(); ++p)
    for (std::size_t e = 0; e < graph[p].part.size(); ++e) {
      const int target = graph[p].part[e];
      if (target < 0 || target >= parts || e >= graph[p].bytes.size())
        refuse("part ", p, " sends to part ", target, ", but parts are ", "numbered from 0 to ",
            parts - 1, " and need bytes for every edge");
      const std::int64_t bytes = graph[p].bytes[e];
      if (bytes < 0)
        refuse("part ", p, " sends ", bytes, " bytes to part ", target, ": give 0 or more");
      all = checked_sum(all, bytes, "the number of bytes that all parts send");
      to[p].push_back({target, bytes});
    }
  return Neighborhood(std::move(to));
}

// Of a level's non-empty units between two positions; level −1: the whole machine.
std::vector<int> boundaries(const Machine& machine, int level, int first, int last) {
  std::vector<int> starts{first};
  for (int p = first + 1; level >= 0 && p < last; ++p)
    if (machine.unit_of(level, p) != machine.unit_of(level, p - 1)) starts.push_back(p);
  starts.push_back(last);
  return starts;
}

// Sorts vertices by part. METIS's parts are only about equal, but units have exact sizes (`room`):
// moves vertices with the least loss from oversized to undersized parts.
std::vector<int> balanced(const Neighborhood& graph, std::vector<int> vertices,
    const std::vector<int>& part, std::vector<int> room) {
  std::vector<int> part_of(graph.points(), -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    part_of[vertices[i]] = part[i];
    --room[part[i]];
  }
  std::vector<std::int64_t> bytes(room.size());
  while (std::ranges::min(room) < 0) {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    int mover = 0, target = 0;
    for (const int v : vertices) {
      if (room[part_of[v]] >= 0) continue;
      std::ranges::fill(bytes, 0);
      graph.for_each(v, [&](const auto& edge) {
        if (part_of[edge.point] >= 0) bytes[part_of[edge.point]] += edge.bytes;
      });
      for (std::size_t u = 0; u < room.size(); ++u)
        if (const auto gain = bytes[u] - bytes[part_of[v]]; room[u] > 0 && gain > best)
          best = gain, mover = v, target = static_cast<int>(u);
    }
    ++room[part_of[mover]];
    --room[target];
    part_of[mover] = target;
  }
  std::ranges::stable_sort(vertices, {}, [&](int v) { return part_of[v]; });
  return vertices;
}

// Cuts the parts inside each enclosing unit several times, from other orders, then repeatedly a few
// heavily communicating units. Local search improves every cut.
class LevelByLevel {
 public:
  LevelByLevel(const Machine& machine, const Neighborhood& graph, Objective objective,
      std::vector<int> positions)
      : machine_(machine), graph_(graph), objective_(objective), positions_(std::move(positions)) {
    std::size_t edges = 1;
    for (int p = 0; p < graph.points(); ++p) edges += graph.to(p).size();
    tries_ = static_cast<int>(std::clamp(most_edges / edges, least_tries, most_tries));
  }

  void place(int level) {
    around_ = boundaries(machine_, level - 1, 0, machine_.size());
    parts_ = parts_around();
    auto candidate = positions_;
    improve(level, candidate, false);
    std::int64_t work = 0;
    for (int left = tries_; left > 0 && work < most_work_of_cuts; --left) {
      candidate = positions_;
      if (cut(level, true, candidate).empty()) break;
      work += improve(level, candidate, true);
    }
    int left = again_per_unit * machine_.units(level) / static_cast<int>(parts_.size());
    for (work = 0; left > 0 && work < most_work_again; --left) {
      parts_ = parts_around();
      candidate = positions_;
      const auto moved = cut(level, false, candidate);
      if (moved.empty()) break;
      work += improve(level, candidate, true, moved) + graph_.points();
    }
  }

  const std::vector<int>& positions() const { return positions_; }
  bool by_metis = false;
  std::string why;  // METIS failed

 private:
  static constexpr std::size_t most_cut_again = 4;
  static constexpr int again_per_unit = 16;
  static constexpr std::size_t most_edges = 100'000, least_tries = 4, most_tries = 32;
  static constexpr std::int64_t most_work_of_cuts = 2 * most_work, most_work_again = 6 * most_work;

  std::vector<std::vector<int>> parts_around() const {
    std::vector<int> at(positions_.size());
    for (std::size_t p = 0; p < positions_.size(); ++p) at[positions_[p]] = static_cast<int>(p);
    std::vector<std::vector<int>> parts;
    for (std::size_t u = 0; u + 1 < around_.size(); ++u)
      parts.emplace_back(at.begin() + around_[u], at.begin() + around_[u + 1]);
    return parts;
  }

  void shuffle(std::vector<int>& parts) {
    for (std::size_t left = parts.size(); left > 1; --left)
      std::swap(parts[left - 1], parts[random_() % left]);
  }

  // A random unit, and some that it sends most to: ascending indices into `starts`.
  std::vector<std::size_t> some_that_exchange(
      const std::vector<int>& parts, const std::vector<int>& starts) {
    const int first = starts.front();
    const std::size_t count = starts.size() - 1, chosen = random_() % count;
    std::vector<std::pair<std::int64_t, std::size_t>> bytes(count);
    for (std::size_t unit = 0; unit < count; ++unit) bytes[unit].second = unit;
    for (int position = starts[chosen]; position < starts[chosen + 1]; ++position)
      for (const auto& edge : graph_.to(parts[position - first]))
        if (const int there = positions_[edge.point]; there >= first && there < starts.back())
          bytes[std::ranges::upper_bound(starts, there) - starts.begin() - 1].first += edge.bytes;
    std::ranges::sort(bytes, std::greater<>{});
    std::vector<std::size_t> found{chosen};
    for (const auto& [sent, unit] : bytes)
      if (unit != chosen && sent > 0 && found.size() < most_cut_again && random_() % 3 != 0)
        found.push_back(unit);
    if (found.size() == 1) found.push_back((chosen + 1) % count);
    std::ranges::sort(found);
    return found;
  }

  // In each enclosing unit, cuts all units anew, or a few that communicate heavily. Returns their
  // parts, or nothing if METIS fails.
  std::vector<int> cut(int level, bool all, std::vector<int>& positions) {
    std::vector<int> moved;
    for (std::size_t u = 0; u < parts_.size() && why.empty(); ++u) {
      const auto starts = boundaries(machine_, level, around_[u], around_[u + 1]);
      if (starts.size() < (all ? 3 : 4)) continue;  // two units are always cut together
      std::vector<std::size_t> units(starts.size() - 1);
      std::iota(units.begin(), units.end(), 0);
      if (!all) units = some_that_exchange(parts_[u], starts);
      std::vector<int> parts, room;
      const auto first = parts_[u].begin() - around_[u];
      for (const auto unit : units) {
        parts.insert(parts.end(), first + starts[unit], first + starts[unit + 1]);
        room.push_back(starts[unit + 1] - starts[unit]);
      }
      shuffle(parts);
      const auto part = cut_with_metis(graph_, parts, static_cast<int>(units.size()), why);
      if (!part) return {};
      parts = balanced(graph_, parts, *part, std::move(room));
      std::size_t next = 0;
      for (const auto unit : units)
        for (int position = starts[unit]; position < starts[unit + 1]; ++position)
          positions[parts[next++]] = position;
      moved.insert(moved.end(), parts.begin(), parts.end());
    }
    return moved;
  }

  // Of the units of `level` inside an enclosing unit; independent of everything outside.
  std::pair<std::int64_t, std::int64_t> leaving(
      int level, std::size_t u, const std::vector<int>& positions) const {
    const int first = machine_.unit_of(level, around_[u]);
    std::vector<std::int64_t> bytes(machine_.unit_of(level, around_[u + 1] - 1) - first + 1);
    for (const int p : parts_[u]) {
      const int unit = machine_.unit_of(level, positions[p]);
      for (const auto& edge : graph_.to(p))
        if (machine_.unit_of(level, positions[edge.point]) != unit)
          bytes[unit - first] += edge.bytes;
    }
    const auto sum = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}),
               largest = std::ranges::max(bytes);
    return objective_ == Objective::jsum ? std::pair{sum, largest} : std::pair{largest, sum};
  }

  std::int64_t improve(
      int level, std::vector<int>& candidate, bool cut, const std::vector<int>& moved = {}) {
    const std::int64_t work =
        refine_level(machine_, graph_, objective_, level, candidate, most_work, moved);
    for (std::size_t u = 0; u < parts_.size(); ++u) {
      if (leaving(level, u, candidate) >= leaving(level, u, positions_)) continue;
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

GraphPlacement place_graph(
    const Machine& machine, const std::vector<PartEdges>& graph, Objective objective) {
  const Neighborhood neighborhood = neighborhood_of(machine, graph);
  const Units units(machine);
  const auto scores_of = [&](const std::vector<int>& positions) {
    return score_edges(machine, units, positions, [&](int part, const auto& visit) {
      for (const auto& edge : neighborhood.to(part)) visit(edge.point, edge.bytes);
    });
  };
  std::vector<int> blocked(graph.size());
  std::iota(blocked.begin(), blocked.end(), 0);
  const Scores in_order = scores_of(blocked);
  GraphPlacement best{blocked, in_order, in_order, "blocked", ""};
  LevelByLevel search(machine, neighborhood, objective, blocked);
  for (int level = 0; level < machine.levels(); ++level)
    if (has_several_ranks(machine, level)) search.place(level);
  best.note = search.why;
  const Scores scores = scores_of(search.positions());
  if (objective_key(scores, objective) >= objective_key(in_order, objective)) return best;
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

#include "refine.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "placement/problem.hpp"

namespace parhelion::placement {

Neighborhood::Neighborhood(std::vector<std::vector<Edge>> to)
    : to_(std::move(to)), from_(to_.size()) {
  for (int p = 0; p < points(); ++p) {
    std::erase_if(to_[p], [&](const Edge& edge) { return edge.point == p; });
    for (const auto& edge : to_[p]) from_[edge.point].push_back({p, edge.bytes});
  }
}

Neighborhood::Neighborhood(const ProcessGrid& grid, const Stencil& stencil)
    : Neighborhood([&] {
        std::vector<std::vector<Edge>> to(grid.size());
        for (int p = 0; p < grid.size(); ++p)
          for_each_edge(grid, stencil, p,
              [&](int there, const Offset& offset) { to[p].push_back({there, offset.bytes}); });
        return to;
      }()) {}

namespace {

std::vector<int> units_at(const Machine& machine, int level, const std::vector<int>& positions) {
  std::vector<int> units(positions.size(), 0);
  if (level >= 0)
    std::ranges::transform(
        positions, units.begin(), [&](int position) { return machine.unit_of(level, position); });
  return units;
}

// Ejection chains at one level: a point moves to an adjacent unit, which ejects one of its own,
// until the first unit receives one. Keeps chains that lower the potential. Source: Glover,
// Ejection chains, reference structures and alternating path methods, Discrete Applied Mathematics
// 65 (1996).
class ChainSearch {
 public:
  ChainSearch(const Machine& machine, const Neighborhood& neighborhood, Objective objective,
      int level, const std::vector<int>& positions)
      : neighborhood_(neighborhood), objective_(objective),
        parents_(units_at(machine, level - 1, positions)),
        units_(units_at(machine, level, positions)), members_(machine.units(level)),
        leaving_(machine.units(level)) {
    for (int p = 0; p < neighborhood_.points(); ++p) {
      auto& members = members_[units_[p]];
      place_.push_back(static_cast<int>(members.size()));
      members.push_back(p);
      for (const auto& edge : neighborhood_.to(p))
        if (units_[edge.point] != units_[p]) leaving_[units_[p]] += edge.bytes, sum_ += edge.bytes;
    }
    lower_ceiling();
  }

  /// Chains from all `points` until `most` edges are visited. Whether `positions` improved.
  bool pass(const std::vector<int>& points, std::vector<int>& positions, std::int64_t most) {
    bool improved = false;
    for (std::size_t i = 0; i < points.size() && work_ < most; ++i)
      for (const int unit : units_beside(points[i])) {
        if (!try_chain(points[i], unit)) continue;
        // Each takes the position of the next, cyclically.
        for (std::size_t at = 1; at < chain_.size(); ++at)
          std::swap(positions[chain_[at - 1]], positions[chain_[at]]);
        improved = true;
        break;
      }
    return improved;
  }

  /// Sets the ceiling, above which bytes are excess, just below the maximum.
  void lower_ceiling() {
    ceiling_ = std::ranges::max(leaving_) - 1;
    excess_ = 0;
    for (const auto leaving : leaving_) excess_ += above(leaving);
  }

  /// Edges visited: the measure of work.
  std::int64_t work() const { return work_; }

 private:
  static constexpr std::size_t longest_chain = 5;

  /// To minimize: the objective, then the other quantity.
  using Potential = std::pair<std::int64_t, std::int64_t>;

  struct Step {
    Potential potential;
    int point, unit;
  };

  Potential potential() const {
    return objective_ == Objective::jsum ? Potential{sum_, excess_} : Potential{excess_, sum_};
  }

  std::int64_t above(std::int64_t leaving) const {
    return std::max<std::int64_t>(0, leaving - ceiling_);
  }

  void change(int unit, std::int64_t bytes) {
    auto& leaving = leaving_[unit];
    excess_ -= above(leaving);
    leaving += bytes;
    excess_ += above(leaving);
    sum_ += bytes;
  }

  void count(int point, int sign) {
    const int own = units_[point];
    for (const auto& edge : neighborhood_.to(point))
      if (units_[edge.point] != own) change(own, sign * edge.bytes);
    for (const auto& edge : neighborhood_.from(point))
      if (const int unit = units_[edge.point]; unit != own) change(unit, sign * edge.bytes);
    work_ += std::ssize(neighborhood_.to(point)) + std::ssize(neighborhood_.from(point));
  }

  void move(int point, int to) {
    count(point, -1);
    auto &old = members_[units_[point]], &now = members_[to];
    int& place = place_[point];
    place_[old.back()] = place;
    old[place] = old.back();
    old.pop_back();
    place = static_cast<int>(now.size());
    now.push_back(point);
    units_[point] = to;
    count(point, +1);
  }

  // Of the same parent, that the point exchanges with.
  std::vector<int> units_beside(int p) const {
    std::vector<int> beside;
    neighborhood_.for_each(p, [&](const auto& edge) {
      const int unit = units_[edge.point];
      if (unit != units_[p] && parents_[p] == parents_[edge.point] &&
          std::ranges::find(beside, unit) == beside.end())
        beside.push_back(unit);
    });
    return beside;
  }

  bool try_chain(int point, int unit) {
    const auto before = potential();
    const int home = units_[point];
    chain_.clear();
    homes_.clear();
    follow({before, point, unit});
    while (chain_.size() < longest_chain) {
      const auto [back, onward] = best_steps(unit, home);
      if (back && back->potential < before) {
        follow(*back);
        return true;
      }
      if (!onward) break;
      unit = onward->unit;
      follow(*onward);
    }
    for (std::size_t i = chain_.size(); i-- > 0;) move(chain_[i], homes_[i]);
    return false;
  }

  void follow(const Step& step) {
    chain_.push_back(step.point);
    homes_.push_back(units_[step.point]);
    move(step.point, step.unit);
  }

  // The best point of `unit` to send home, and to send elsewhere.
  std::pair<std::optional<Step>, std::optional<Step>> best_steps(int unit, int home) {
    std::optional<Step> back, onward;
    candidates_ = members_[unit];
    for (const int p : candidates_) {
      if (std::ranges::find(chain_, p) != chain_.end()) continue;
      for (const int to : units_beside(p)) {
        move(p, to);
        const Step step{potential(), p, to};
        move(p, unit);
        auto& best = to == home ? back : onward;
        if (!best || step.potential < best->potential) best = step;
      }
    }
    return {back, onward};
  }

  const Neighborhood& neighborhood_;
  Objective objective_;
  std::vector<int> parents_, units_;  ///< of every point
  std::vector<std::vector<int>> members_;
  std::vector<int> place_;             ///< of a point among its unit's members
  std::vector<std::int64_t> leaving_;  ///< bytes, by unit
  std::int64_t ceiling_ = 0, sum_ = 0, excess_ = 0, work_ = 0;
  std::vector<int> chain_, homes_, candidates_;
};

}  // namespace

bool has_several_ranks(const Machine& machine, int level) {
  return machine.units(level) > 1 && machine.units(level) < machine.size();
}

std::int64_t refine_level(const Machine& machine, const Neighborhood& neighborhood,
    Objective objective, int level, std::vector<int>& positions, std::int64_t most,
    std::vector<int> points) {
  ChainSearch search(machine, neighborhood, objective, level, positions);
  if (points.empty()) {
    points.resize(positions.size());
    std::iota(points.begin(), points.end(), 0);
  }
  while (search.pass(points, positions, most)) search.lower_ceiling();
  return search.work();
}

void refine(const Machine& machine, const Neighborhood& neighborhood, Objective objective,
    std::vector<int>& positions) {
  std::int64_t work = 0;
  for (int level = 0; level < machine.levels() && work < most_work; ++level)
    if (has_several_ranks(machine, level))
      work += refine_level(machine, neighborhood, objective, level, positions, most_work - work);
}

}  // namespace parhelion::placement

#include <algorithm>
#include <numeric>

#include "core/concat.hpp"
#include "placement/methods/methods.hpp"
#include "refine.hpp"

namespace parhelion::placement {
namespace {

constexpr std::size_t most_starts = 3;  // of local search

struct Method {
  const char* name;
  Attempt (*arrange)(const Problem&);
};

Attempt blocked(const Problem& problem) {
  Order order(problem.grid.size());
  std::iota(order.begin(), order.end(), 0);
  return {std::move(order)};
}

// The first wins ties.
constexpr Method methods[] = {
    {"blocked", blocked},
    {"kd_tree", kd_tree},
    {"stencil_strips", stencil_strips},
    {"recursive_bisection", recursive_bisection},
    {"guillotine", guillotine},
};

struct Candidate : Member {
  Order positions;
  int moved = 0;
};

void check_ranks(const ProcessGrid& grid, const Machine& machine) {
  if (grid.size() != machine.size())
    refuse("the process grid has ", grid.size(), " points, but the machine has ", machine.size(),
        " ranks: make the product of the grid's extents equal to the ranks");
}

class Portfolio {
 public:
  Portfolio(const Request& request, const Machine& machine)
      : request_(request), problem_(request.grid, request.stencil, machine) {
    std::string names;
    for (const auto& [name, arrange] : methods) {
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (!request.method.empty() && request.method != name) continue;
      Attempt made = arrange(problem_);
      if (made.order.empty() && !request.method.empty())
        refuse("the method ", request.method, " does not apply: ", made.reason);
      all_.push_back({{name, {}, made.reason}, std::move(made.order)});
      if (all_.back().applies()) assess(all_.back());
    }
    if (all_.empty()) refuse("the method '", request.method, "' is unknown: choose from ", names);
    for (const auto& candidate : all_)
      if (candidate.applies()) ranked_.push_back(&candidate);
    std::ranges::stable_sort(ranked_, {}, [&](const auto* each) { return key(*each); });
  }

  std::vector<Member> members() const { return {all_.begin(), all_.end()}; }
  const Candidate& best() const { return *ranked_.front(); }

  // The best after local search from the best with distinct scores: equal ones most likely mean
  // equal placements.
  Candidate refined() const {
    const Neighborhood neighborhood(problem_.grid, problem_.stencil);
    const auto objectives = request_.costs ? std::vector{Objective::jsum, Objective::jmax}
                                           : std::vector{request_.objective};
    Candidate found = best();
    const Candidate* last = nullptr;
    std::size_t starts = 0;
    for (const Candidate* start : ranked_) {
      if (last && last->scores == start->scores) continue;
      if (starts++ == most_starts) break;
      last = start;
      for (const Objective objective : objectives) {
        Candidate now = *start;
        refine(problem_.machine, neighborhood, objective, now.positions);
        assess(now);
        if (key(now) >= key(found)) continue;
        now.name += " + refined";
        for (std::size_t p = 0; p < now.positions.size(); ++p)
          now.moved += now.positions[p] != start->positions[p];
        found = std::move(now);
      }
    }
    return found;
  }

 private:
  void assess(Candidate& candidate) const {
    candidate.scores = score(
        problem_.grid, problem_.stencil, problem_.machine, problem_.units, candidate.positions);
    if (request_.costs)
      candidate.seconds = predicted_seconds(problem_.grid, problem_.stencil, problem_.machine,
          candidate.scores, candidate.positions, *request_.costs);
  }

  // To minimize: predicted time, if any, then the objective.
  std::pair<double, std::vector<std::int64_t>> key(const Candidate& candidate) const {
    return {candidate.seconds, objective_key(candidate.scores, request_.objective)};
  }

  const Request& request_;
  const Problem problem_;
  std::vector<Candidate> all_;
  std::vector<const Candidate*> ranked_;  // those that apply, best first
};

}  // namespace

Placement::Placement(ProcessGrid grid, Machine machine, std::vector<int> positions, int moved)
    : grid_(grid), machine_(std::move(machine)), positions_(std::move(positions)),
      points_(positions_.size(), -1), moved_(moved) {
  check_ranks(grid_, machine_);
  if (static_cast<int>(positions_.size()) != grid_.size())
    refuse("positions are given for ", positions_.size(), " of ", grid_.size(), " points");
  for (int point = 0; point < grid_.size(); ++point) {
    const int position = positions_[point];
    if (position < 0 || position >= grid_.size() || points_[position] >= 0)
      refuse("position ", position, " is not given to exactly one point");
    points_[position] = point;
  }
}

Scores Placement::scores(const Stencil& stencil) const {
  check_bytes(grid_, stencil);
  return score(grid_, stencil, machine_, positions_);
}

std::vector<NodePair> Placement::node_pairs(const Stencil& stencil) const {
  return placement::node_pairs(grid_, stencil, nodes_of(machine_, positions_));
}

std::vector<std::int64_t> objective_key(const Scores& scores, Objective objective) {
  std::vector<std::int64_t> key;
  for (const auto& level : scores) {
    const bool sum_first = objective == Objective::jsum;
    key.push_back(sum_first ? level.bytes_sum : level.bytes_max);
    key.push_back(sum_first ? level.bytes_max : level.bytes_sum);
  }
  return key;
}

AutomaticPlacement place(const Request& request, const Machine& machine) {
  check_ranks(request.grid, machine);
  const Portfolio portfolio(request, machine);
  const bool refine = request.refine && request.method.empty(),
             too_large = request.grid.size() > refined_points;
  Candidate best = refine && !too_large ? portfolio.refined() : portfolio.best();
  return {Placement(request.grid, machine, std::move(best.positions), best.moved), best.scores,
      best.name, portfolio.members(),
      refine && too_large ? concat("not refined: local search would take too long for ",
                                request.grid.size(), " points")
                          : "",
      best.seconds};
}

}  // namespace parhelion::placement

// Local search: swaps points between units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// In- and out-neighbors of every point.
class Neighborhood {
 public:
  struct Edge {
    int point;
    std::int64_t bytes;
  };

  Neighborhood(const ProcessGrid& grid, const Stencil& stencil);
  /// From outgoing edges; drops self-edges.
  explicit Neighborhood(std::vector<std::vector<Edge>> to);

  /// To the points that `point` sends to, and from those that send to it.
  const std::vector<Edge>& to(int point) const { return to_[point]; }
  const std::vector<Edge>& from(int point) const { return from_[point]; }
  int points() const { return static_cast<int>(to_.size()); }
  template <class Visit>
  void for_each(int point, const Visit& visit) const {
    for (const auto* edges : {&to_[point], &from_[point]})
      for (const auto& edge : *edges) visit(edge);
  }

 private:
  std::vector<std::vector<Edge>> to_, from_;
};

/// Improves `positions` (by point) level by level, outermost first. The first level that changes
/// never gets worse. A fixed amount of work keeps the result deterministic.
void refine(const Machine& machine, const Neighborhood& neighborhood, Objective objective,
    std::vector<int>& positions);

/// Work limit, in edges visited: about 0.1 s.
inline constexpr std::int64_t most_work = 20'000'000;

/// Improves one level; points stay in their enclosing unit. Chains start at `points`, or at all if
/// empty. Returns the work done.
std::int64_t refine_level(const Machine& machine, const Neighborhood& neighborhood,
    Objective objective, int level, std::vector<int>& positions, std::int64_t most,
    std::vector<int> points = {});

/// Whether swaps between units of this level can matter.
bool has_several_ranks(const Machine& machine, int level);

/// Each vertex's part when METIS cuts into `parts` about equal ones; nullopt if METIS is missing or
/// fails, with the reason in `why`.
std::optional<std::vector<int>> cut_with_metis(
    const Neighborhood& graph, const std::vector<int>& vertices, int parts, std::string& why);

}  // namespace parhelion::placement

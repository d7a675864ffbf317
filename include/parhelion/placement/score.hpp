// Traffic that leaves the units of each level.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// Directed stencil edges that leave units of one level: Jsum over all, Jmax for the busiest. Edges
/// that wrap around to their own point leave no unit. Source: Hunold, von Kirchbach, Lehr, Schulz,
/// Träff: Efficient Process-to-Node Mapping Algorithms for Stencil Computations, IEEE CLUSTER 2020.
struct LevelScore {
  std::int64_t edges_sum = 0, edges_max = 0;
  std::int64_t bytes_sum = 0, bytes_max = 0;
  std::int64_t sent_max =
      0;  ///< bytes that a unit's ranks send, also to each other: maximum over units

  friend bool operator==(const LevelScore&, const LevelScore&) = default;
};

/// One per level, outermost first.
using Scores = std::vector<LevelScore>;

/// Scores the points' `positions` in the machine's hierarchical order, last dimension fastest.
/// Local.
Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
    const std::vector<int>& positions);

/// Number of the point at `step` from `point`; false beyond an end.
inline bool neighbor(const ProcessGrid& grid, const Coords& point, const Coords& step, int& index) {
  index = 0;
  for (int d = 0; d < grid.dimensions; ++d) {
    const int n = grid.extent[d];
    int along = point[d] + step[d];
    if (along < 0 || along >= n) {
      if (!grid.periodic[d]) return false;
      along = (along % n + n) % n;
    }
    index = index * n + along;
  }
  return true;
}

}  // namespace parhelion::placement

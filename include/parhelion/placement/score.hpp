// How much of the exchange leaves the units of each level.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// Directed stencil edges that leave a unit of one level, each way counted: Jsum over all units, Jmax the most that
/// leave one. An edge that wraps around onto its own point leaves nothing.
/// Source: Hunold, von Kirchbach, Lehr, Schulz, Träff: Efficient Process-to-Node Mapping Algorithms for Stencil
/// Computations, IEEE CLUSTER 2020.
struct LevelScore {
    std::int64_t edges_sum = 0, edges_max = 0;
    std::int64_t bytes_sum = 0, bytes_max = 0;
    std::int64_t sent_max = 0;  ///< bytes that the ranks of a unit send, also to each other: the most of a unit

    friend bool operator==(const LevelScore&, const LevelScore&) = default;
};

/// One per level, outermost first.
using Scores = std::vector<LevelScore>;

/// Where a grid point's rank sits in the machine's hierarchical order.
using PositionOf = std::function<int(const Coords&)>;

/// Scores a placement by walking through the grid plane by plane. Memory: the planes within the stencil's reach and
/// one counter per unit, never the whole map. Local.
Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine, const PositionOf& position);

/// The point at `step` from `point`, by its coordinates; false where the grid ends.
inline bool neighbor(const ProcessGrid& grid, const Coords& point, const Coords& step, Coords& found) {
    for (int d = 0; d < max_dimensions; ++d) {
        const int n = grid.extent[d], along = point[d] + step[d];
        if (!grid.periodic[d] && (along < 0 || along >= n)) return false;
        found[d] = (along % n + n) % n;
    }
    return true;
}

}  // namespace parhelion::placement

// Local search on a whole map: exchanges of grid points between units.
#pragma once

#include <cstdint>
#include <vector>

#include "exchange_state.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// Improves `positions` (by point) level by level, outermost first. The result is never
/// worse at the first level that changed. Stops after a fixed amount of work, so that every rank computes the same.
void refine(const Machine& machine, const Neighborhood& neighborhood, Objective objective, std::vector<int>& positions);

/// Work that is enough for once: edges looked at, about 0.1 s.
inline constexpr std::int64_t most_work = 20'000'000;

/// Improves one level, each point staying in its unit of the level around it; chains begin at `points`, where there are any, else at all.
/// Returns the work done.
std::int64_t refine_level(const Machine& machine, const Neighborhood& neighborhood, Objective objective, int level,
                          std::vector<int>& positions, std::int64_t most = most_work, const std::vector<int>& points = {});

/// Whether there is something to exchange between the units of a level.
bool has_several_ranks(const Machine& machine, int level);

}  // namespace parhelion::placement

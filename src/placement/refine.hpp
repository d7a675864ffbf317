// Local search on a whole map: exchanges of grid points between units.
#pragma once

#include <vector>

#include "exchange_state.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// Improves `positions` (by point) level by level, outermost first. The result is never
/// worse at the first level that changed. Stops after a fixed amount of work, so that every rank computes the same.
void refine(const Machine& machine, const Neighborhood& neighborhood, Objective objective, std::vector<int>& positions);

}  // namespace parhelion::placement

// A plan that fetches the same ghosts in several stages.
#pragma once

#include "parhelion/plan/plan.hpp"
#include "pattern/by_dimensions.hpp"

namespace parhelion {

/// `plan` has one stage. No message, no collective call: its neighbors are among those of `plan`, whose letters tell enough. Every
/// Cartesian pattern of it fills its corners (fills_corners); indexed ones travel with the first stage. Fields and arrays are those of
/// `plan`.
Plan staged_plan(const Plan& plan, const std::vector<DimensionSet>& stages);

}  // namespace parhelion

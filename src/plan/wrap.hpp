// Periodic images along dimensions in which a rank is its own neighbor.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Adds copies that fill, once all ghosts of the group's stage from other ranks are there, every ghost that is an image along a
/// dimension in which the rank's only block has no neighbor but itself. Dimension after dimension, each over the full width of those
/// before: long pieces instead of one per edge and corner. False, and nothing added, when the group's pattern is of another kind. Local.
bool add_wrap(Program& program, const Plan& plan, int group);

}  // namespace parhelion

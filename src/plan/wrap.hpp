// Periodic images along dimensions in which a rank is its own neighbor.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Copies that fill, once all ghosts from other ranks are there, every ghost that is an image along a dimension in which the
/// rank's only block has no neighbor but itself. Dimension after dimension, each over the full width of those before: long
/// pieces instead of one per edge and corner. Empty when the pattern is of another kind. Local.
Program compile_wrap(const Plan& plan, const Stage& stage);

}  // namespace parhelion

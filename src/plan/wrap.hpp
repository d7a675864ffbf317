// Periodic images along dimensions in which a rank is its own neighbor.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Adds to the stage's `wrap_owned` and `wrap` copies that fill every ghost of the group that is an image along a dimension in which the
/// rank's only block has no neighbor but itself. Dimension after dimension, each over the full width of those before: long pieces instead
/// of one per edge and corner. What depends on owned cells alone is apart from what needs the ghosts of other ranks, but where these
/// continue the pieces that lie together in memory: those stay whole. False, and nothing added, when the group's pattern is of another kind. Local.
bool add_wrap(StagePlan& stage, const Plan& plan, int group);

}  // namespace parhelion

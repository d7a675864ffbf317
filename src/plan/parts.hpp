// Cuts a forward message into parts, to overlap packing with unpacking.
#pragma once

#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

struct Part {
  byte_count bytes = 0;
  Program program;  ///< fields → part, or part → fields; base 0 is the part
};

/// Parts that a link sends, or receives, equal on both sides: so small that cache lines with both
/// owned cells and ghosts stay in the cache for both copies. Local, after make_plan.
std::vector<Part> parts_of(const Plan& plan, const LinkPlan& link, bool sent);

}  // namespace parhelion

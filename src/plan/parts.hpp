// Cuts a forward message into parts, to overlap packing with unpacking.
#pragma once

#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

struct Part {
    byte_count bytes = 0;
    Program program;  ///< fields → part, or part → fields; base 0 is the part
};

/// Parts that a link sends, and parts that it receives; the sender's and the receiver's parts
/// match. A part touches so few cache lines that lines which hold both owned cells and ghosts stay
/// in the cache for both copies. Local, after make_plan.
std::vector<Part> parts_sent(const Plan& plan, const LinkPlan& link);
std::vector<Part> parts_received(const Plan& plan, const LinkPlan& link);

}  // namespace parhelion

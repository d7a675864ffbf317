// A forward message cut into parts, so that what comes can be unpacked while what goes is packed.
#pragma once

#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

struct Part {
    byte_count bytes = 0;
    Program program;  ///< fields → part, or part → fields; base 0 is the part
};

/// Parts of what a link sends, and of what it receives; the sender's and the receiver's parts fit
/// each other. A part touches few enough cache lines that those between owned cells and ghosts next
/// to them are still in the cache when both have been copied. Local, after make_plan.
std::vector<Part> parts_sent(const Plan& plan, const LinkPlan& link);
std::vector<Part> parts_received(const Plan& plan, const LinkPlan& link);

}  // namespace parhelion

// Owned cells divided among those who compute them.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Owned cells of a block that make up a part: local indices [first, last) along `dimension`, all of them along the others.
struct PartOfBlock {
    int dimension = 0;
    local_index first = 0, last = 0;
};

/// Part `part` of the plan's parts: equal shares of the dimension that changes slowest in memory (of the group's first field), or of
/// the local indices of an indexed pattern. Local.
PartOfBlock part_of_block(const Plan& plan, int part, int block, int group = 0);

/// What of a neighbor's forward message comes from the cells of a part, which has a share of each group: those cells → their places
/// in the message. Local.
Program pack_part(const Plan& plan, const Links& links, int part);

}  // namespace parhelion

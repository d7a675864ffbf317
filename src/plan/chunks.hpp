// Cuts a forward message into chunks, to overlap packing with unpacking.
#pragma once

#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

struct Chunk {
  byte_count bytes = 0;
  Program program;  ///< fields → chunk, or chunk → fields; base 0 is the chunk
};

/// Chunks that a link sends, or receives, equal on both sides: so small that cache lines with both
/// owned cells and ghosts stay in the cache for both copies. Local, after make_plan.
std::vector<Chunk> chunks_of(const Plan& plan, const LinkPlan& link, bool sent);

}  // namespace parhelion

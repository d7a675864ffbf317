#pragma once

#include <vector>

#include "gather/baselines.hpp"

namespace parhelion::bench {

/// Everything that can run a gather case: the library's transports, the hand-written baselines, the floor.
std::vector<Entry> gather_contenders(const GatherSetup& setup);

}  // namespace parhelion::bench

#pragma once

#include <vector>

#include "halo/baselines.hpp"

namespace parhelion::bench {

/// Everything that can run a halo case: the library's transports, the hand-written baselines, the floor.
std::vector<Entry> halo_contenders(const HaloSetup& setup);

}  // namespace parhelion::bench

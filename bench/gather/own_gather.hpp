#pragma once

#include "gather/baselines.hpp"
#include "own.hpp"

namespace parhelion::bench {

/// Collective. The library's exchange of a gather case.
ContenderPointer make_own_gather(const OwnWay& way, const GatherSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

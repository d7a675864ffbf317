#pragma once

#include "halo/baselines.hpp"
#include "own.hpp"

namespace parhelion::bench {

/// Collective. The library's exchange of a halo case.
ContenderPointer make_own_halo(const OwnWay& way, const HaloSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

#pragma once

#include "gather/baselines.hpp"
#include "own.hpp"

namespace parhelion::bench {

/// Collective. The library's exchange of a gather case.
ContenderPointer make_own_gather(const OwnWay& way, const GatherSetup& setup, SetupTimes& times);

/// What Fortran's and C's gather do: any array, copied through the map's own buffers. On the arrays
/// of the baselines.
ContenderPointer make_index_map_gather(const GatherSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

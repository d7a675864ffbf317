#pragma once

#include "gather/baselines.hpp"
#include "halo/baselines.hpp"

// The floors: the time in which processes copy the same regions straight between shared arrays,
// with one flag each way.
//
// It is not an exchange that a program could use. Nothing tells a rank that its neighbor still
// reads the ghosts, or the owned cells, of the step before: the one flag says only that this step's
// copies are done (put) or may begin (get). Its own checks therefore hold the ranks together by a
// barrier between steps. What is left is what any exchange must do: read and write every byte once,
// and learn that the other side has done its part.

namespace parhelion::bench {

/// Each rank writes into its neighbors' ghosts.
ContenderPointer make_halo_floor_put(const HaloSetup& setup, SetupTimes& times);
ContenderPointer make_gather_floor_put(const GatherSetup& setup, SetupTimes& times);

/// As put, but regions of short runs go through a dense buffer that the reader unpacks: a thin face
/// that is cut across memory costs a cache line per cell where it is copied straight, and lines
/// that another core holds are dear.
ContenderPointer make_halo_floor_packed(const HaloSetup& setup, SetupTimes& times);

/// Each rank reads from its neighbors' cells.
ContenderPointer make_halo_floor_get(const HaloSetup& setup, SetupTimes& times);
ContenderPointer make_gather_floor_get(const GatherSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

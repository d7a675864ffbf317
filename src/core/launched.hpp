// Checks that launcher and MPI match. Python checks the same environment variables:
// python/parhelion/launch/jobs.py and python/parhelion/native/alone.py.
#pragma once

#include <mpi.h>

namespace parhelion {

/// Throws Error when a launcher started several ranks and MPI sees only one, so that each would
/// compute the whole problem, unless PARHELION_ALONE=1. Skips the check when `user` has several
/// ranks. Local.
void require_all_ranks(MPI_Comm user);

/// Throws Error when the program is linked with an MPI of another ABI than this library. Local;
/// checks once.
void require_own_mpi();

}  // namespace parhelion

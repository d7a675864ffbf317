// Checks that launcher and MPI match, as python/parhelion/launch/jobs.py and
// python/parhelion/native/alone.py do.
#pragma once

#include <mpi.h>

namespace parhelion {

/// Throws Error when a launcher started several ranks, but MPI sees one, unless PARHELION_ALONE=1
/// or `user` has several: each would compute the whole problem. Local.
void require_all_ranks(MPI_Comm user);

/// Throws Error when the program's MPI has another ABI than this library's. Local; checks once.
void require_own_mpi();

}  // namespace parhelion

// One side of a copy program as an MPI datatype, so that MPI itself gathers or scatters.
#pragma once

#include <mpi.h>

#include "parhelion/plan/program.hpp"

namespace parhelion {

enum class Side { source, destination };

/// A committed type of bytes at absolute addresses (for MPI_BOTTOM), in the order of the message. The program must hold
/// strided ops only. The caller frees it.
MPI_Datatype program_type(const Program& program, Bases bases, Side side);

}  // namespace parhelion

// One side of a copy program as an MPI datatype, so that MPI itself gathers or scatters.
#pragma once

#include <mpi.h>

#include "parhelion/plan/program.hpp"

namespace parhelion {

enum class Side { source, destination };

/// The widest numbers (8, 4, 2 or 1 bytes) of which all pieces of one side of the program consist, aligned as numbers must be.
int widest_unit(const Program& program, Bases bases, Side side);

/// A committed type of numbers of `unit` bytes at absolute addresses (for MPI_BOTTOM), in the order of the message. The program
/// must hold strided ops only. Sender and receiver must use the same unit. The caller frees it.
MPI_Datatype program_type(const Program& program, Bases bases, Side side, int unit);

}  // namespace parhelion

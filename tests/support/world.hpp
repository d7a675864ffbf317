// Rank and size in MPI_COMM_WORLD.
#pragma once

#include "parhelion/core/communicator.hpp"

inline int rank() { return parhelion::Communicator(MPI_COMM_WORLD).rank(); }
inline int ranks() { return parhelion::Communicator(MPI_COMM_WORLD).size(); }
inline bool last() { return rank() == ranks() - 1; }

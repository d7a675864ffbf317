#pragma once

#include "application.hpp"

namespace applications {

/// The Euler equations in two dimensions: first-order finite volumes on triangles, upwind fluxes
/// over a list of faces, two stages per time step. The periodic mesh has `side` × `side` squares,
/// each cut along a pseudo-random diagonal. Cells are numbered along the Morton curve; each rank
/// owns one contiguous piece.
MakeApplication finite_volume(int side, MPI_Comm comm);

/// Whether `side` is a power of two from 4 to 8192 with at least one square per rank.
bool is_side_of_mesh(std::int64_t side, int ranks);

}  // namespace applications

#pragma once

#include "application.hpp"

namespace applications {

/// The equations of Euler in two dimensions, by finite volumes of first order on triangles: upwind
/// fluxes through a list of faces, two stages per time step. The mesh: `side` × `side` squares,
/// periodic, each cut along the one or the other diagonal; cells are numbered along Morton's curve,
/// of which each rank has a piece.
MakeApplication finite_volume(int side, MPI_Comm comm);

/// A power of two from 4 to 8192, with a square for every rank.
bool is_side_of_mesh(std::int64_t side, int ranks);

}  // namespace applications

#pragma once

#include <array>

#include "application.hpp"

namespace applications {

/// Conjugate gradients with a multigrid preconditioner on the 27-point stencil of a box: diagonal
/// 26, −1 for each neighbor.
struct MultigridProblem {
    std::array<int, 3> grid{};    // ranks per dimension, the first one fastest
    std::array<int, 3> extent{};  // rows of a rank per dimension, on the finest grid
    int levels = 4;               // each coarser one has half as many rows per dimension
};

/// Local. The most levels, up to 4, that an extent can be halved for; the coarsest keeps two rows
/// per dimension.
int levels_of(const std::array<int, 3>& extent);

MakeApplication multigrid_cg(const MultigridProblem& problem, MPI_Comm comm);

}  // namespace applications

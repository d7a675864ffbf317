#pragma once

#include <array>

#include "application.hpp"

namespace applications {

/// Conjugate gradients with a multigrid preconditioner for the 27-point stencil on a box: 26 on the
/// diagonal, −1 for each neighbor.
struct MultigridProblem {
  std::array<int, 3> grid{};    // ranks per dimension, the first one fastest
  std::array<int, 3> extent{};  // rows per rank and dimension, on the finest grid
  int levels = 4;               // each coarser level has half as many rows per dimension
};

/// Largest number of levels, at most 4, into which `extent` can be halved; the coarsest level keeps
/// at least two rows per dimension. Local.
int levels_of(const std::array<int, 3>& extent);

MakeApplication multigrid_cg(const MultigridProblem& problem, MPI_Comm comm);

}  // namespace applications

#pragma once

#include <array>

#include "application.hpp"
#include "over_ghosts.hpp"

namespace parhelion::bench {

/// Vectors of another library, from the plug-in `libphl_adapter_LIBRARY.so`. Throws CannotRun
/// without that plug-in.
applications::GhostUpdatePointer with_vectors_of(const std::string& library);

struct ShallowWaterProblem {
  std::array<int, 2> ranks{1, 1},
      cells{1, 1};  // ranks: first dimension fastest; cells: of the whole grid
};

enum class ShallowWaterWay { parhelion, isend, sendrecv, alone };

/// The shallow-water equations on a staggered C grid, from the plug-in of
/// examples/shallow_water/shallow_water.f90; without it, making the program throws CannotRun.
/// `alone`: every rank computes the whole grid and `state()` returns its block.
applications::MakeProgram shallow_water(const ShallowWaterProblem& problem, MPI_Comm comm,
    ShallowWaterWay way, const std::string& transport = {});

}  // namespace parhelion::bench

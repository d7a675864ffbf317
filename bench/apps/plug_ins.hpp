#pragma once

#include <array>

#include "application.hpp"
#include "over_ghosts.hpp"

namespace parhelion::bench {

/// Another library's vectors, from the plug-in `libphl_adapter_LIBRARY.so`. Throws CannotRun where
/// there is none.
applications::GhostUpdatePointer with_vectors_of(const std::string& library);

struct ShallowWaterProblem {
    std::array<int, 2> ranks{1, 1},
        cells{1, 1};  // ranks with the first dimension fastest; cells in all
};

enum class ShallowWaterWay { parhelion, isend, sendrecv, alone };

/// The shallow-water equations on a staggered C grid, in Fortran, from a plug-in beside this
/// program: examples/shallow_water/shallow_water.f90. Where a build has none, the program throws
/// CannotRun when it is made. `alone`: every rank has the whole grid, and shows its part.
applications::MakeProgram shallow_water(const ShallowWaterProblem& problem, MPI_Comm comm,
                                        ShallowWaterWay way, const std::string& transport = {});

}  // namespace parhelion::bench

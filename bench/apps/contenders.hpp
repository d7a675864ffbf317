#pragma once

#include "apps/shallow_water.hpp"
#include "contender.hpp"
#include "hydrodynamics.hpp"
#include "over_ghosts.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

using namespace applications;

/// Another library's vectors, from the plug-in `libphl_peer_LIBRARY.so` beside this program. Throws
/// CannotRun where there is none.
GhostUpdatePointer with_vectors_of(const std::string& library);

/// An application's ways to exchange: the library over `auto`, or over a transport that is named,
/// and those by hand.
std::vector<Entry> ways_to_fill_ghosts(const MakeApplication& make, MPI_Comm comm);
/// And vectors of other libraries.
std::vector<Entry> ways_of_poisson(const MakeApplication& make, MPI_Comm comm);
std::vector<Entry> ways_of_hydrodynamics(const HydrodynamicsProblem& problem, MPI_Comm comm);
std::vector<Entry> ways_of_shallow_water(const ShallowWaterProblem& problem, MPI_Comm comm);

/// All that some application has, for lists.
std::vector<Entry> application_contenders();

/// An application of a job, checked. Throws Error for what cannot be run on the ranks. Local.
Case read_application(const nlohmann::json& object, const Communicator& comm);

}  // namespace parhelion::bench

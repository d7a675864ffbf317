#pragma once

#include <memory>
#include <string>

#include "ghost_update.hpp"

namespace applications {

using GhostUpdatePointer = std::unique_ptr<GhostUpdate>;

/// The library over one of its transports, in the arrays that it gives.
GhostUpdatePointer with_parhelion(const std::string& transport);

/// Packed into a buffer per array, MPI_Isend; MPI_Irecv straight into the ghosts.
GhostUpdatePointer by_hand_with_isend();
/// The same with persistent requests.
GhostUpdatePointer by_hand_with_persistent_requests();
/// Packed, then MPI_Neighbor_alltoallv straight into the ghosts.
GhostUpdatePointer by_hand_with_neighbor_alltoallv();

}  // namespace applications

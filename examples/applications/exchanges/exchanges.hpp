#pragma once

#include <memory>
#include <string>

#include "ghost_update.hpp"

namespace applications {

using GhostUpdatePointer = std::unique_ptr<GhostUpdate>;

/// Parhelion with one of its transports, in arrays that the library allocates.
GhostUpdatePointer with_parhelion(const std::string& transport);

/// Packs into one buffer per array; MPI_Isend, and MPI_Irecv directly into the ghosts.
GhostUpdatePointer by_hand_with_isend();
/// The same with persistent requests.
GhostUpdatePointer by_hand_with_persistent_requests();
/// Packs, then calls MPI_Neighbor_alltoallv, which receives directly into the ghosts.
GhostUpdatePointer by_hand_with_neighbor_alltoallv();

}  // namespace applications

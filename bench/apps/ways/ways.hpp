#pragma once

#include <memory>
#include <string>

#include "apps/ghost_update.hpp"

namespace parhelion::bench {

using GhostUpdatePointer = std::unique_ptr<GhostUpdate>;

/// The library over one of its transports, in the arrays that it gives.
GhostUpdatePointer with_parhelion(const std::string& transport);

/// Another library's vectors, from the plug-in `libphl_peer_LIBRARY.so` beside this program. Throws CannotRun where there is none.
GhostUpdatePointer with_vectors_of(const std::string& library);

/// Packed into a buffer per array, MPI_Isend; MPI_Irecv straight into the ghosts.
GhostUpdatePointer by_hand_with_isend();
/// The same with persistent requests.
GhostUpdatePointer by_hand_with_persistent_requests();
/// Packed, then MPI_Neighbor_alltoallv straight into the ghosts.
GhostUpdatePointer by_hand_with_neighbor_alltoallv();

}  // namespace parhelion::bench

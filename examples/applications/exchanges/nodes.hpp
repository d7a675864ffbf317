#pragma once

#include "node_sums.hpp"

namespace applications {

/// The library over one of its transports: the points of the grid that several ranks hold are
/// summed.
NodeSumsPointer nodes_with_parhelion(const std::string& transport);
/// Packed and sent to each of 26 neighbors, MPI_Isend and MPI_Irecv.
NodeSumsPointer nodes_by_hand_with_isend();
/// Planes to both sides, MPI_Sendrecv, dimension by dimension: what was added goes on to the next.
NodeSumsPointer nodes_by_hand_with_sendrecv();

}  // namespace applications

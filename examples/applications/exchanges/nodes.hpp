#pragma once

#include "node_sums.hpp"

namespace applications {

/// Parhelion with one of its transports: sums the grid points that several ranks hold.
NodeSumsPointer nodes_with_parhelion(const std::string& transport);
/// Packs and sends to each of up to 26 neighbors with MPI_Isend and MPI_Irecv.
NodeSumsPointer nodes_by_hand_with_isend();
/// Exchanges planes with MPI_Sendrecv, dimension by dimension: later planes carry the sums of
/// earlier dimensions.
NodeSumsPointer nodes_by_hand_with_sendrecv();

}  // namespace applications

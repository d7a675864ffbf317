// Makers of the transports, one per file.
#pragma once

#include "transport/messenger.hpp"

namespace parhelion {

std::unique_ptr<Transport> make_mpi_p2p(const TransportContext& context);
std::unique_ptr<Transport> make_mpi_persistent(const TransportContext& context);
std::unique_ptr<Transport> make_mpi_neighbor(const TransportContext& context);

}  // namespace parhelion

#pragma once

#include <nlohmann/json.hpp>

namespace parhelion::bench {

/// MPI's own control variables about alltoall, eager and rendezvous messages and collectives inside a node, as MPI's tool
/// interface (MPI-4.1 section 15.3) tells them: name to value. Empty where it tells none. Local; needs MPI initialized.
nlohmann::json mpi_control_variables();

}  // namespace parhelion::bench

// The environment variables that a record may hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace parhelion::bench {

/// Those of this process that are known to steer MPI, its networks, threads or memory
/// (variables.txt), without any whose name or value smells of a secret (secrets.txt).
nlohmann::json known_variables();

/// Whether a variable may be recorded under its name and with its value.
bool smells_of_a_secret(const std::string& name, const std::string& value);

/// MPI's own control variables about alltoall, eager and rendezvous messages and collectives inside
/// a node, as MPI's tool interface (MPI-4.1 section 15.3) tells them: name to value. Empty where it
/// tells none. Local; needs MPI initialized.
nlohmann::json mpi_control_variables();

}  // namespace parhelion::bench

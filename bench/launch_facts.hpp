#pragma once

#include <nlohmann/json.hpp>

#include "binding.hpp"

namespace parhelion::bench {

/// What this start of the ranks ran on, for the record's `launch` line: MPI, shared objects loaded, binding, hosts, the
/// environment variables that steer MPI and its networks. Local; of this process where ranks may differ.
nlohmann::json launch_facts(const Binding& binding, double mpi_init_s);

}  // namespace parhelion::bench

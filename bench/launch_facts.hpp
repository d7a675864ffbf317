#pragma once

#include <nlohmann/json.hpp>

#include "binding.hpp"

namespace parhelion::bench {

/// What was timed before a job could be read.
struct Beginning {
    double mpi_init_s = 0;         // 0: somebody else called it
    nlohmann::json cold_alltoall;  // see call_while_cold; null: not asked for
    nlohmann::json imports;        // of a program in Python; null: of none
};

/// What this start of the ranks ran on, for the record's `launch` line: MPI, shared objects loaded,
/// binding, hosts, the environment variables that steer MPI and its networks. Local; of this
/// process where ranks may differ.
nlohmann::json launch_facts(const Binding& binding, const Beginning& beginning);

}  // namespace parhelion::bench

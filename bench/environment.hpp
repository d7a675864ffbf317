// The environment variables that a record may hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace parhelion::bench {

/// Those of this process that are known to steer MPI, its networks, threads or memory (variables.txt), without any whose name or
/// value smells of a secret (secrets.txt).
nlohmann::json known_variables();

/// Whether a variable may be recorded under its name and with its value.
bool smells_of_a_secret(const std::string& name, const std::string& value);

}  // namespace parhelion::bench

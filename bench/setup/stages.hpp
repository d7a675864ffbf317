#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace parhelion::bench {

/// A stage on the way from MPI_Init to a running exchange; in records it stands where contenders stand elsewhere.
struct Stage {
    std::string name, role;
};

/// The stages that a job names, or all of them. Throws Error listing them when a name is unknown.
std::vector<Stage> chosen_stages(const std::vector<std::string>& names);

/// All stages, as `--list` tells contenders. Needs no MPI.
nlohmann::json listed_stages();

}  // namespace parhelion::bench

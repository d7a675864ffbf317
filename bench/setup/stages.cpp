#include "setup/stages.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

// MPI's own part is a peer; the library's stages follow each other.
const std::vector<Stage> all_stages{{"mpi_init", "peer"}, {"mpi_comm_dup", "peer"},  {"communicator", "own"},  {"pattern", "own"},
                                    {"plan", "own"},      {"first_exchange", "own"}, {"later_exchange", "own"}};

}  // namespace

std::vector<Stage> chosen_stages(const std::vector<std::string>& names) {
    if (names.empty()) return all_stages;
    std::vector<Stage> stages;
    for (const std::string& name : names) {
        const auto found = std::find_if(all_stages.begin(), all_stages.end(), [&](const Stage& s) { return s.name == name; });
        if (found == all_stages.end()) {
            std::string known;
            for (const Stage& stage : all_stages) known += (known.empty() ? "" : ", ") + stage.name;
            throw Error("job: unknown stage '" + name + "': set-up has " + known);
        }
        stages.push_back(*found);
    }
    return stages;
}

nlohmann::json listed_stages() {
    nlohmann::json list = nlohmann::json::array();
    for (const Stage& stage : all_stages) list.push_back({{"name", stage.name}, {"role", stage.role}, {"only_by_name", false}});
    return list;
}

}  // namespace parhelion::bench

#pragma once

#include "apps/application.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// An application of a job, checked.
struct ApplicationParams {
    std::string app;
    nlohmann::json told;  // into the record
    std::function<MakeApplication(MPI_Comm)> problem;
};

/// Throws Error for what cannot be run on `ranks` ranks. Local.
ApplicationParams read_application_params(const nlohmann::json& object, int ranks);

Case make_application_case(const ApplicationParams& params);

}  // namespace parhelion::bench

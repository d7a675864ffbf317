#pragma once

#include "parhelion/core/communicator.hpp"
#include "variant.hpp"

namespace parhelion::bench {

std::vector<Entry> application_variants();

/// Local. Reads and validates an application of a job; throws Error if it cannot run on the ranks.
Case read_application(const nlohmann::json& object, const Communicator& comm);

}  // namespace parhelion::bench

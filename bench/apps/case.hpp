#pragma once

#include "parhelion/core/communicator.hpp"
#include "variant.hpp"

namespace parhelion::bench {

std::vector<Entry> application_variants();

/// An application of a job, checked. Throws Error for what cannot be run on the ranks. Local.
Case read_application(const nlohmann::json& object, const Communicator& comm);

}  // namespace parhelion::bench

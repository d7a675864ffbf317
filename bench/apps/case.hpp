#pragma once

#include "contender.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// An application of a job, checked. Throws Error for what cannot be run on the ranks. Local.
Case read_application(const nlohmann::json& object, const Communicator& comm);

}  // namespace parhelion::bench

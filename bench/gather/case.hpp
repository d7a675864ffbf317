#pragma once

#include "gather/by_hand.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Local. Reads and validates a gather case of a job; throws Error if it is none.
GatherParams read_gather_params(const nlohmann::json& object);

std::vector<Entry> gather_variants(const GatherSetup& setup);

/// Collective. Reads the data set; throws Error on every rank if it does not fit this number of
/// ranks.
Case make_gather_case(const GatherParams& params, const Communicator& comm);

}  // namespace parhelion::bench

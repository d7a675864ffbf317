#pragma once

#include "gather/by_hand.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// What a gather case of a job says, checked. Throws Error for what is no gather case. Local.
GatherParams read_gather_params(const nlohmann::json& object);

std::vector<Entry> gather_variants(const GatherSetup& setup);

/// Collective. Reads the data set; throws Error on every rank when it cannot be used on as many
/// ranks as there are.
Case make_gather_case(const GatherParams& params, const Communicator& comm);

}  // namespace parhelion::bench

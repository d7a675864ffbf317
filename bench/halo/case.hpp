#pragma once

#include "halo/by_hand.hpp"
#include "library.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// What a halo case of a job says, checked. Throws Error for what cannot be run on `ranks` ranks.
/// Local.
HaloParams read_halo_params(const nlohmann::json& object, int ranks);

std::vector<Entry> halo_variants(const HaloSetup& setup);

std::string halo_case_name(const HaloParams& params);
nlohmann::json halo_case_params(const HaloParams& params, int ranks);

/// Collective. The case's geometry and arrays; throws Error on every rank when the node has too
/// little memory.
HaloSetup make_halo_setup(const HaloParams& params, const Communicator& comm);

/// Collective. The case with all the variants that this build has for it.
Case make_halo_case(const HaloParams& params, const Communicator& comm);

/// The domain of a case, on the setup's communicator. Collective as the domain is.
CartesianDomain make_domain(const HaloSetup& setup);

std::vector<Field> fields_on(const HaloSetup& setup, const HaloArrays& arrays);

/// The case's arrays in node-shared memory, made once per setup. Local; throws Error where there is
/// too little.
std::shared_ptr<HaloArrays> node_shared_arrays(const HaloSetup& setup);

}  // namespace parhelion::bench

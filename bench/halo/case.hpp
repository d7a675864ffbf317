#pragma once

#include "halo/by_hand.hpp"
#include "library.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Local. Reads and validates a halo case of a job; throws Error if `ranks` ranks cannot run it.
HaloParams read_halo_params(const nlohmann::json& object, int ranks);

std::vector<Entry> halo_variants(const HaloSetup& setup);

std::string halo_case_name(const HaloParams& params);
nlohmann::json halo_case_params(const HaloParams& params, int ranks);

/// Collective. The case's geometry and arrays; throws Error on every rank if a node lacks memory.
HaloSetup make_halo_setup(const HaloParams& params, const Communicator& comm);

/// Collective. The case with all of its variants in this build.
Case make_halo_case(const HaloParams& params, const Communicator& comm);

/// Collective, as the domain's constructor. The case's domain on the setup's communicator.
CartesianDomain make_domain(const HaloSetup& setup);

std::vector<Field> fields_on(const HaloSetup& setup, const HaloArrays& arrays);

/// Local. The case's arrays in node-shared memory, allocated once per setup; throws Error if memory
/// is short.
std::shared_ptr<HaloArrays> node_shared_arrays(const HaloSetup& setup);

}  // namespace parhelion::bench

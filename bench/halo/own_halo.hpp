#pragma once

#include "halo/baselines.hpp"
#include "own.hpp"

namespace parhelion::bench {

/// The domain of a case, on the setup's communicator. Collective as the domain is.
CartesianDomain make_domain(const HaloSetup& setup);

/// The case's fields as views of arrays.
std::vector<Field> fields_on(const HaloSetup& setup, const HaloArrays& arrays);

/// The case's arrays in node-shared memory, made once per setup. Local; throws Error where there is
/// too little.
std::shared_ptr<HaloArrays> node_shared_arrays(const HaloSetup& setup);

/// Collective. The library's exchange of a halo case.
ContenderPointer make_own_halo(const OwnWay& way, const HaloSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

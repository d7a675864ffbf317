// Numbers of all ranks, as one.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// Collective, one reduction; all ranks pass as many. Of each value the sum over all ranks, or the
/// largest. A wait that is too long ends as that of any set-up call (Doing).
std::vector<std::int64_t> total(const Communicator& comm, const std::vector<std::int64_t>& values);
std::vector<std::int64_t> largest(const Communicator& comm,
                                  const std::vector<std::int64_t>& values);

}  // namespace parhelion

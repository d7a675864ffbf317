#pragma once

#include <vector>

#include "alltoall/buffers.hpp"

namespace parhelion::bench {

/// Everything that can run an alltoall case: MPI's own calls, and the algorithms written out.
std::vector<Entry> alltoall_contenders(const AlltoallSetup& setup);

}  // namespace parhelion::bench

#pragma once

#include "alltoall/buffers.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Everything that can run an alltoall case: MPI's own calls, and the algorithms written out.
std::vector<Entry> alltoall_contenders(const AlltoallSetup& setup);

/// Bytes that each rank sends to each, as an alltoall case of a job says. Throws Error for what is no such case. Local.
std::size_t read_alltoall_size(const nlohmann::json& object);

/// Collective. The case with all the contenders that this build has for it.
Case make_alltoall_case(std::size_t block_bytes, const Communicator& comm);

}  // namespace parhelion::bench

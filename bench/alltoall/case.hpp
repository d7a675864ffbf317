#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "alltoall/buffers.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Everything that can run an alltoall case: MPI's own calls, and the algorithms written out.
std::vector<Entry> alltoall_contenders(const AlltoallSetup& setup);

/// Bytes that each rank sends to each, as an alltoall case of a job says. Throws Error for what is
/// no such case. Local.
std::size_t read_alltoall_size(const nlohmann::json& object);

/// Collective. The case with all the contenders that this build has for it.
Case make_alltoall_case(std::size_t block_bytes, const Communicator& comm);

/// Collective over all ranks, right after MPI_Init and before anything else: the time of the very
/// first alltoall, which makes MPI's connections, and of the nine after it (maximum over ranks; on
/// rank 0), every byte verified. An object with `size`, `first_s`, `later_s` (a list) and
/// `verified`.
nlohmann::json call_while_cold(std::int64_t block_bytes);

}  // namespace parhelion::bench

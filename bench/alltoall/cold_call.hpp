#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace parhelion::bench {

/// Collective over all ranks, right after MPI_Init and before anything else: the time of the very first alltoall, which
/// makes MPI's connections, and of the nine after it (maximum over ranks; on rank 0), every byte verified.
/// An object with `size`, `first_s`, `later_s` (a list) and `verified`.
nlohmann::json call_while_cold(std::int64_t block_bytes);

}  // namespace parhelion::bench

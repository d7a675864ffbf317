#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "parhelion/core/communicator.hpp"
#include "verified.hpp"

namespace parhelion::bench {

/// Send and receive buffers of one rank: a block of `block_bytes` per rank, in rank order. Values
/// encode sender, receiver, position and round, so that the checks detect misplaced or old blocks.
class AlltoallBuffers : public VerifiedArrays {
 public:
  AlltoallBuffers(int rank, int ranks, std::size_t block_bytes);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::size_t block_bytes() const { return block_bytes_; }
  std::byte* send(int to) const { return sent_ + offset(to); }
  std::byte* receive(int from) const { return received_ + offset(from); }

 private:
  std::size_t offset(int rank) const { return static_cast<std::size_t>(rank) * block_bytes_; }
  void for_each_run(const Visit& visit) const override;

  int rank_, ranks_;
  std::size_t block_bytes_;
  std::byte *sent_ = block(0), *received_ = block(1);
};

struct AlltoallSetup {
  MPI_Comm comm = MPI_COMM_NULL;
  std::shared_ptr<AlltoallBuffers> buffers;
};

std::vector<Entry> alltoall_variants(const AlltoallSetup& setup);

/// Collective. The case with all of its variants in this build.
Case make_alltoall_case(std::size_t block_bytes, const Communicator& comm);

/// Collective, as the first call after MPI_Init. Times the first alltoall, which opens MPI's
/// connections, and the nine after it, and verifies every byte. Returns `size`, `first_s`,
/// `later_s` (a list) and `verified`; seconds are maxima over ranks.
nlohmann::json call_while_cold(std::int64_t block_bytes);

}  // namespace parhelion::bench

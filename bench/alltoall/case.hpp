#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "parhelion/core/communicator.hpp"
#include "verified.hpp"

namespace parhelion::bench {

/// What one rank sends and receives: a block of `block_bytes` for every rank, and one from every
/// rank, in order of rank. The values of a block tell sender, receiver, place and round, so that a
/// block of another rank or call is noticed.
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

/// Collective. The case with all the variants that this build has for it.
Case make_alltoall_case(std::size_t block_bytes, const Communicator& comm);

/// Collective over all ranks, right after MPI_Init and before anything else: the time of the very
/// first alltoall, which makes MPI's connections, and of the nine after it (maximum over ranks; on
/// rank 0), every byte verified. An object with `size`, `first_s`, `later_s` (a list) and
/// `verified`.
nlohmann::json call_while_cold(std::int64_t block_bytes);

}  // namespace parhelion::bench

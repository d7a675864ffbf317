#pragma once

#include <mpi.h>

#include <memory>

#include "contender.hpp"
#include "memory.hpp"

namespace parhelion::bench {

/// What one rank sends and receives: a block of `block_bytes` for every rank, and one from every
/// rank, in order of rank. The values of a block tell sender, receiver, place and round, so that a
/// block of another rank or call is noticed.
class AlltoallBuffers : public Values {
public:
    AlltoallBuffers(int rank, int ranks, std::size_t block_bytes);

    void refresh(unsigned round) override;
    std::int64_t count_wrong(unsigned round) const override;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    std::size_t block_bytes() const { return block_bytes_; }
    std::byte* send(int to) const { return memory_.block(0) + offset(to); }
    std::byte* receive(int from) const { return memory_.block(1) + offset(from); }

private:
    std::size_t offset(int rank) const { return static_cast<std::size_t>(rank) * block_bytes_; }
    template <class Visit>
    void with_words(Visit&& visit) const;
    std::uint64_t first_id(int from, int to) const;

    int rank_, ranks_;
    std::size_t block_bytes_;
    PrivateMemory memory_;
};

/// An alltoall case on this rank; its contenders share the buffers.
struct AlltoallSetup {
    MPI_Comm comm = MPI_COMM_NULL;
    std::shared_ptr<AlltoallBuffers> buffers;
};

}  // namespace parhelion::bench

#include "floor/open_memory.hpp"

#include <new>

#include "binding.hpp"
#include "errors.hpp"

namespace parhelion::bench {

namespace {

// Cache lines, not pages: arrays that begin at the same place of a page would evict each other from
// the first cache.
std::size_t block_distance(std::size_t bytes) {
    constexpr std::size_t line = 64;
    return (bytes + line - 1) / line * line + line;
}

const Communicator& whole_node(const Communicator& comm) {
    if (comm.node().size() != comm.size())
        throw CannotRun("the ranks are on several nodes: the floor copies within one");
    return comm.node();
}

std::vector<std::size_t> distances(const Communicator& comm, std::size_t bytes) {
    std::vector<std::size_t> all(static_cast<std::size_t>(comm.size()));
    const std::size_t mine = block_distance(bytes);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.handle());
    return all;
}

}  // namespace

OpenMemory::OpenMemory(const Communicator& comm, int blocks, std::size_t bytes)
    : rank_(comm.rank()), crowded_(more_ranks_than_cpus(comm.node())),
      bytes_(distances(whole_node(comm), bytes)),
      window_(comm.node().handle(),
              sizeof(Flag) + static_cast<std::size_t>(blocks) * block_distance(bytes)) {
    new (&flag_of(rank_)) Flag{};
    MPI_Barrier(comm.handle());
}

std::byte* OpenMemory::block_of(int rank, int index) const {
    return window_.of(rank) + sizeof(Flag) +
           static_cast<std::size_t>(index) * bytes_[static_cast<std::size_t>(rank)];
}

void OpenMemory::post(std::uint32_t step) const {
    crowded_ ? flag_of(rank_).post_and_wake(step) : flag_of(rank_).post(step);
}

void OpenMemory::wait_for(int rank, std::uint32_t step) const {
    crowded_ ? flag_of(rank).sleep_until(step) : flag_of(rank).wait_for(step);
}

}  // namespace parhelion::bench

#include "alltoall/case.hpp"

#include <mpi.h>

#include <climits>

#include "options.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

}  // namespace

// 8-byte elements, where they divide a block, make the checks eight times as fast.
AlltoallBuffers::AlltoallBuffers(int rank, int ranks, std::size_t block_bytes)
    : VerifiedArrays(
          block_bytes % word == 0 ? element_of<std::uint64_t>() : element_of<std::uint8_t>(), 1,
          std::make_shared<PrivateMemory>(2, static_cast<std::size_t>(ranks) * block_bytes)),
      rank_(rank), ranks_(ranks), block_bytes_(block_bytes) {}

void AlltoallBuffers::for_each_run(const Visit& visit) const {
  const auto words =
      static_cast<std::int64_t>(block_bytes_ % word == 0 ? block_bytes_ / word : block_bytes_);
  const auto id = [&](int from, int to) {
    return static_cast<std::uint64_t>(std::int64_t{from} * ranks_ + to) << 32;
  };
  for (int other = 0; other < ranks_; ++other) {
    visit({send(other), words, id(rank_, other), Expect::owned});
    visit({receive(other), words, id(other, rank_), Expect::ghost});
  }
}

Case make_alltoall_case(std::size_t block_bytes, const Communicator& comm) {
  AlltoallSetup setup{MPI_COMM_WORLD, nullptr};
  const std::string name =
      "alltoall " + std::to_string(block_bytes) + " B on " + std::to_string(comm.size()) + " ranks";
  const int ranks_here = comm.node().size();
  validate_together(comm, [&] {
    constexpr double buffers_of_all = 4;  // two, and MPI's copies
    check_node_memory(buffers_of_all * static_cast<double>(block_bytes) * comm.size() * ranks_here,
        name, "use smaller sizes or more nodes");
    setup.buffers = std::make_shared<AlltoallBuffers>(comm.rank(), comm.size(), block_bytes);
  });
  return {name, {{"ranks", comm.size()}, {"size", block_bytes}}, alltoall_variants(setup)};
}

namespace {

constexpr unsigned calls = 10;  // as in the published test

// No barrier before the first call: it would open some connections.
double timed_call(AlltoallBuffers& buffers, int bytes) {
  double seconds = 0;
  timed(seconds, [&] {
    MPI_Alltoall(
        buffers.send(0), bytes, MPI_BYTE, buffers.receive(0), bytes, MPI_BYTE, MPI_COMM_WORLD);
  });
  return seconds;
}

}  // namespace

nlohmann::json call_while_cold(std::int64_t block_bytes) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  AlltoallBuffers buffers(rank, ranks, static_cast<std::size_t>(block_bytes));
  std::vector<double> seconds;
  std::int64_t wrong = 0;
  for (unsigned call = 1; call <= calls; ++call) {
    buffers.refresh(call);
    if (call > 1) MPI_Barrier(MPI_COMM_WORLD);
    seconds.push_back(timed_call(buffers, static_cast<int>(block_bytes)));
    wrong += buffers.count_wrong(call);
  }
  MPI_Allreduce(
      MPI_IN_PLACE, seconds.data(), static_cast<int>(calls), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const double first = seconds.front();
  seconds.erase(seconds.begin());
  return {
      {"size", block_bytes}, {"first_s", first}, {"later_s", seconds}, {"verified", wrong == 0}};
}

}  // namespace parhelion::bench

// Every alltoall variant delivers every byte, for all numbers of ranks and odd sizes.

#include <string>

#include "support/cases.hpp"

#include "alltoall/case.hpp"
#include "memory.hpp"
#include "record.hpp"
#include "variant.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

AlltoallSetup setup_of(std::size_t bytes) {
  const Communicator comm(MPI_COMM_WORLD);
  return {MPI_COMM_WORLD, std::make_shared<AlltoallBuffers>(comm.rank(), comm.size(), bytes)};
}

std::int64_t wrong_after(Variant& variant, unsigned rounds) {
  std::int64_t wrong = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    variant.values().refresh(round);
    variant.exchange();
    wrong += variant.values().count_wrong(round);
  }
  return wrong;
}

}  // namespace

CASE("every way of an alltoall gives every byte") {
  for (std::size_t bytes : {1, 3, 8, 1000, 70000}) {
    const AlltoallSetup setup = setup_of(bytes);
    for (const Entry& entry : alltoall_variants(setup)) {
      if (entry.only_by_name) continue;
      CAPTURE(bytes);
      CAPTURE(entry.name);
      SetupTimes times;
      try {
        const auto variant = entry.make(times);
        EXPECT_EQ(wrong_after(*variant, 5), 0);
      } catch (const CannotRun& e) {
        say("skipped: ", entry.name, ": ", std::string(e.what()));
      }
    }
  }
}

CASE("a byte that was not sent, one that was changed and one behind the end are noticed") {
  const AlltoallSetup setup = setup_of(16);
  const int last = setup.buffers->ranks() - 1;
  SetupTimes times;
  const auto variant = alltoall_variants(setup).front().make(times);
  ASSERT_EQ(wrong_after(*variant, 1), 0);
  for (std::byte* victim : {setup.buffers->receive(last) + 15, setup.buffers->send(0),
           setup.buffers->receive(last) + 16}) {
    *victim ^= std::byte{4};
    EXPECT_EQ(setup.buffers->count_wrong(1), 1);
    *victim ^= std::byte{4};
  }
  EXPECT_GT(setup.buffers->count_wrong(2), 0);  // data of an earlier round counts as wrong
}

CASE("the planted fault is seen on the last rank alone") {
  const AlltoallSetup setup = setup_of(64);
  SetupTimes times;
  const auto variant = alltoall_variants(setup).back().make(times);
  const bool last = setup.buffers->rank() + 1 == setup.buffers->ranks();
  EXPECT_EQ((wrong_after(*variant, 1) > 0), last);
}

CASE("what a rank writes into a shared window is what the others read") {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator& node = comm.node();
  SharedWindow window(node.handle(), 100);
  *reinterpret_cast<int*>(window.of(node.rank())) = 41 + node.rank();
  MPI_Barrier(node.handle());
  for (int rank = 0; rank < node.size(); ++rank)
    EXPECT_EQ(*reinterpret_cast<int*>(window.of(rank)), 41 + rank);
  MPI_Barrier(node.handle());
}

CASE("samples of all ranks are listed by rank") {
  const Communicator comm(MPI_COMM_WORLD);
  const auto all = samples_by_rank({1.0 * comm.rank(), 7.0}, comm);
  ASSERT_EQ(all.size(), (comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    EXPECT_EQ(all[rank], (std::vector{1.0 * static_cast<double>(rank), 7.0}));
}

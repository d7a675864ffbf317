// Messages of megabytes, which pass through a small ring buffer in chunks.
#include <unistd.h>

#include "robustness/work.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Faces of 1.3 MB per neighbor.
CartesianDomain long_faces(const Communicator& comm) {
  return {{4 * comm.size(), 140, 140},
      {.halo = 2, .periodic = true, .process_grid = {comm.size(), 1, 1}}};
}

}  // namespace

CASE("long messages arrive whole, whether their reader is early, on time or late") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 4) return;  // more ranks add only time
  const CartesianDomain domain = long_faces(comm);
  Random own(mix(3, static_cast<std::uint64_t>(comm.rank())));
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    Work work(domain, route.transport, 0);
    for (int round = 0; round < 6; ++round) {
      work.prepare(Direction::forward, round);
      if (own.chance(30)) usleep(2000);  // neighbors find the ring full
      work.begin();
      if (own.chance(30)) usleep(2000);  // neighbors wait and find room for every chunk
      work.end();
      EXPECT_EQ(work.difference(), "");
    }
  }
}

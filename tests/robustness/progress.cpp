// Exchanges progress while their ranks do other work.
#include <atomic>
#include <chrono>
#include <thread>

#include "parhelion/parhelion.hpp"
#include "support/cases.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Whether the value arrives without a call of the library. Counts polls, not seconds, because the
// machine may pause.
bool turns_up(double& place, double value) {
  constexpr int most_looks = 300000;
  for (int look = 0; look < most_looks; ++look) {
    if (std::atomic_ref(place).load() == value) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

}  // namespace

CASE("with a progress thread ghosts are filled while the program computes") {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    say("skipped: this MPI does not provide MPI_THREAD_MULTIPLE");
    return;
  }
  const Communicator comm(MPI_COMM_WORLD);
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  for (const Route& route : all_routes()) {
    if (route.transport == "auto" || comm.size() == 1) continue;
    CAPTURE(route.transport);
    const CartesianDomain domain(
        {4 * comm.size(), 2000}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}});
    const global_index first = domain.owned().lo[0];
    auto u = make_array<double>(domain);
    Exchange exchange(build_pattern(domain), {view(u)},
        {.transport = route.transport, .timeout_s = 60, .progress_thread = true});
    for (int round = 1; round <= 3; ++round) {
      for (int x = 0; x < 4; ++x)
        for (int y = 0; y < 2000; ++y) u(first + x, y) = 100.0 * round + comm.rank();
      MPI_Barrier(MPI_COMM_WORLD);
      auto step = exchange.begin();
      EXPECT_TRUE(turns_up(u(first - 1, 1999), 100.0 * round + left));
      MPI_Barrier(MPI_COMM_WORLD);  // no rank progresses a neighbor's exchange from end
      step.end();
    }
  }
}

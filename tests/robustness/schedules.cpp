// Ranks that are late, begin and end in different orders, or are stopped from outside never get a
// wrong ghost.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "robustness/work.hpp"
#include "support/cases.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

std::uint64_t seed() { return number_from_environment("PARHELION_TEST_SEED", 1); }
int rounds() { return static_cast<int>(number_from_environment("PARHELION_TEST_ROUNDS", 250)); }

// Writes the process id, with which a test stops this rank.
void leave_process_number(int rank) {
  const char* directory = std::getenv("PARHELION_TEST_PIDS");
  if (directory != nullptr)
    std::ofstream(std::string(directory) + "/" + std::to_string(rank)) << getpid() << std::endl;
}

void dawdle(Random& random) {
  if (random.chance(10)) usleep(static_cast<useconds_t>(random.between(1, 300)));
  else if (random.chance(20))
    for (volatile int i = random.between(1, 5000); i > 0;) i = i - 1;
}

std::vector<std::size_t> shuffled(Random& random, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

// Begins all exchanges, then ends all, each rank in its own orders: legal for all transports.
void run_schedule(std::vector<Work>& all, int rank) {
  Random same(seed()), own(mix(seed(), static_cast<std::uint64_t>(rank)));
  for (int round = 0; round < rounds(); ++round) {
    for (Work& work : all)
      work.prepare(same.chance(30) ? Direction::reverse : Direction::forward, round);
    for (std::size_t w : shuffled(own, all.size())) dawdle(own), all[w].begin();
    for (std::size_t w : shuffled(own, all.size())) dawdle(own), all[w].end();
    for (Work& work : all) ASSERT_EQ(work.difference(), "");
  }
}

}  // namespace

CASE(
    "exchanges in flight over different transports, late and in any order, never give a wrong "
    "ghost") {
  const Communicator comm(MPI_COMM_WORLD);
  leave_process_number(comm.rank());
  CAPTURE(seed());
  const CartesianDomain domain({18, 16}, {.halo = 1, .periodic = true});
  std::vector<Work> all;
  const char* asked_for = std::getenv("PARHELION_TEST_ROUTES");
  for (const Route& route :
      routes_asked_for(asked_for ? asked_for : "shared,staged_shared,shared|staged_shared,mpi"))
    all.emplace_back(domain, route.transport, static_cast<int>(all.size()));
  run_schedule(all, comm.rank());
}

CASE("exchanges by dimensions, on different communicators, may be ended in any order") {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  {
    CAPTURE(seed());
    const CartesianOptions staged{
        .halo = 2, .periodic = true, .algorithm = Algorithm::by_dimension};
    const CartesianDomain here({18, 16}, staged), there({17, 19}, staged, other);
    std::vector<Work> all;
    all.emplace_back(here, "shared+mpi", 0);
    all.emplace_back(there, "shared+mpi", 1);
    all.emplace_back(here, "staged_shared+mpi", 2);
    all.emplace_back(there, "mpi", 3);
    run_schedule(all, here.communicator().rank());
  }
  MPI_Comm_free(&other);
}

// Threads with separate communicators never synchronize, not even over MPI_COMM_WORLD.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "watch.hpp"

using namespace parhelion;

namespace {

constexpr int thread_count = 2;
constexpr int exchanges = 20;

// Constructs several exchanges in turn and checks that ghosts get their owner's rank.
std::string exchange_alone(MPI_Comm comm, const std::string& transport) {
  const CartesianDomain domain({4 * Communicator(comm).size(), 5},
      {.halo = 1, .periodic = true, .process_grid = {Communicator(comm).size(), 1}}, comm);
  const Box own = domain.owned();
  for (int round = 0; round < exchanges; ++round) {
    auto array = make_array<int>(domain);
    for (global_index i = own.lo[0]; i < own.hi[0]; ++i)
      for (global_index j = own.lo[1]; j < own.hi[1]; ++j) array(i, j) = static_cast<int>(i);
    Exchange exchange(build_pattern(domain), {view(array)}, {transport});
    exchange();
    const auto extent = domain.extents()[0];
    const auto below = static_cast<int>((own.lo[0] - 1 + extent) % extent),
               above = static_cast<int>(own.hi[0] % extent);
    if (array(own.lo[0] - 1, own.lo[1]) != below || array(own.hi[0], own.lo[1]) != above)
      return "a ghost is wrong";
  }
  return {};
}

bool holds(const std::vector<MPI_Comm>& comms, const std::string& transport) {
  std::vector<std::string> findings(thread_count);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      try {
        findings[t] = exchange_alone(comms[t], transport);
      } catch (const std::exception& error) {
        findings[t] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  bool all = true;
  for (const std::string& finding : findings) {
    if (finding.empty()) continue;
    std::printf("FAILED: %s: %s\n", transport.c_str(), finding.c_str());
    std::fflush(stdout);
    all = false;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  bool all = true;
  if (provided == MPI_THREAD_MULTIPLE) {
    std::vector<MPI_Comm> comms(thread_count);
    for (MPI_Comm& comm : comms) {
      PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
      Communicator(comm).node();  // in turn: MPICH 5.0.2 can mix up concurrent creations
    }
    const int before = watched_world_calls();
    for (const char* transport : {"auto", "shared", "staged_shared", "mpi"})
      all = holds(comms, transport) && all;
    if (watched_world_calls() != before) {
      std::printf("FAILED: %s was called on MPI_COMM_WORLD\n", watched_world_call());
      all = false;
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  } else {
    std::printf("skipped: this MPI does not provide MPI_THREAD_MULTIPLE\n");
  }
  MPI_Finalize();
  return all ? 0 : 1;
}

// Solves a problem with each exchange method: mpiexec -n 2 ./solve poisson [STEPS]
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "exchanges/exchanges.hpp"
#include "exchanges/nodes.hpp"
#include "finite_volume.hpp"
#include "hydrodynamics.hpp"
#include "multigrid_cg.hpp"
#include "over_ghosts.hpp"
#include "parhelion/parhelion.hpp"
#include "poisson.hpp"

using namespace applications;

namespace {

struct Way {
  const char* name;
  MakeProgram make;
};

std::vector<Way> over_all(const MakeApplication& make) {
  return {{"reference", over_ghosts(make, reference_update)},
      {"library", over_ghosts(make, [] { return with_parhelion("auto"); })},
      {"MPI_Isend", over_ghosts(make, by_hand_with_isend)},
      {"persistent requests", over_ghosts(make, by_hand_with_persistent_requests)},
      {"MPI_Neighbor_alltoallv", over_ghosts(make, by_hand_with_neighbor_alltoallv)}};
}

std::vector<Way> ways_of(const std::string& problem) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Triple grid{};
  MPI_Dims_create(ranks, 3, grid.data());
  const Triple cells{16, 16, 16};
  if (problem == "poisson") return over_all(poisson(64, MPI_COMM_WORLD));
  if (problem == "finite_volume") return over_all(finite_volume(64, MPI_COMM_WORLD));
  if (problem == "multigrid_cg")
    return over_all(multigrid_cg({grid, cells, levels_of(cells)}, MPI_COMM_WORLD));
  if (problem != "hydrodynamics") return {};
  const auto over = [=](std::function<NodeSumsPointer()> way) {
    return hydrodynamics({grid, cells}, MPI_COMM_WORLD, std::move(way));
  };
  return {{"reference", over(sums_over_all_ranks)},
      {"library", over([] { return nodes_with_parhelion("auto"); })},
      {"MPI_Isend", over(nodes_by_hand_with_isend)},
      {"MPI_Sendrecv", over(nodes_by_hand_with_sendrecv)}};
}

/// The bit patterns of a rank's state.
std::vector<std::uint64_t> state_of(const Program& program) {
  std::vector<std::uint64_t> bits;
  for (const std::span<const double> part : program.state())
    for (const double value : part) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

/// Whether each method reproduces the state of the first one, the reference, bit for bit on every
/// rank.
bool run(const std::vector<Way>& ways, int steps) {
  int rank = 0, all_right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<std::uint64_t> expected;
  for (const Way& way : ways) {
    ExchangeClock clock;
    const auto program = way.make(clock);
    program->start(1);
    for (int step = 0; step < 3; ++step)
      program->step();  // includes the library's choice of transport
    program->start(1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int step = 0; step < steps; ++step) program->step();
    const double step_us = (MPI_Wtime() - start) / steps * 1e6;
    if (expected.empty()) expected = state_of(*program);
    int right = state_of(*program) == expected;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    all_right = std::min(all_right, right);
    if (rank == 0)
      std::printf("%-24s %10.1f us per step, %s\n", way.name, step_us,
          right ? "equal to the reference" : "DIFFERENT");
  }
  return all_right != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<Way> ways = ways_of(argc > 1 ? argv[1] : "");
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
  int status = 2;
  if (ways.empty() || steps < 1) {
    std::fputs("usage: solve poisson|finite_volume|multigrid_cg|hydrodynamics [STEPS]\n", stderr);
  } else {
    status = run(ways, steps) ? 0 : 1;
  }
  MPI_Finalize();
  return status;
}

#include "watch.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

std::atomic<int> world_calls{0}, reductions{0};
std::atomic<const char*> world_call{""};

void watch(const char* name, MPI_Comm comm) {
  reductions += std::strcmp(name, "MPI_Iallreduce") == 0;
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (finalized) {
    std::fprintf(stderr, "%s was called after MPI_Finalize\n", name);
    _exit(86);
  }
  if (!initialized || comm != MPI_COMM_WORLD) return;
  ++world_calls;
  world_call = name;
}

}  // namespace

#include "mpi_wrappers.inc"

extern "C" {

int watched_world_calls(void) { return world_calls; }
int watched_reductions(void) { return reductions; }
const char* watched_world_call(void) { return world_call; }

int watched_split(void) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, rank, &half);
  if (half == MPI_COMM_NULL) watched_meet();
  return MPI_Comm_c2f(half);
}

void watched_meet(void) { PMPI_Barrier(MPI_COMM_WORLD); }

}  // extern "C"

#include "support.h"

int failures = 0, rank, ranks;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!test_device()) {
    test_gather();
    test_scatter();
    test_derived_maps();
    test_questions();
    test_cartesian();
    test_points();
    test_laws();
    test_moves();
    test_mistakes();
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %s\n", ranks, all ? "FAILED" : "passed");
  MPI_Finalize();
  return all != 0;
}

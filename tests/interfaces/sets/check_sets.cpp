// check_sets FOLDER...: compares every ghost and every reverse sum of partition sets with a
// formula, through C++.
#include <parhelion/parhelion.hpp>

#include <cstdio>
#include <vector>

#include "parhelion/domain/partition_files.hpp"

using namespace parhelion;

namespace {

double value_of(global_index id, int c) { return 3.0 * static_cast<double>(id) + 0.25 * c + 1; }

// Number of wrong values on this rank: forward, then reverse, in which ghosts return 1 and their
// id.
std::int64_t check(const std::string& folder) {
  PartitionPart part = read_partition(folder);
  const IndexedDomain domain(part.owned, std::move(part.ghosts));
  std::vector<double, NodeAllocator<double>> values(2 * static_cast<std::size_t>(domain.size()));
  double* const x = values.data();
  Exchange exchange{build_pattern(domain), {view(domain, x, 2)}};
  std::int64_t wrong = 0;
  for (local_index i = 0; i < domain.owned(); ++i)
    for (int c = 0; c < 2; ++c) x[2 * i + c] = value_of(domain.global_of(i), c);
  exchange();
  for (local_index i = 0; i < domain.size(); ++i)
    for (int c = 0; c < 2; ++c) wrong += x[2 * i + c] != value_of(domain.global_of(i), c);
  for (local_index i = 0; i < domain.size(); ++i)
    for (int c = 0; c < 2; ++c)
      x[2 * i + c] = i < domain.owned() ? 0 : c == 0 ? 1 : static_cast<double>(domain.global_of(i));
  exchange.reverse(Reduction::sum);
  double counts[2] = {static_cast<double>(domain.ghosts()), 0};
  for (local_index i = 0; i < domain.owned(); ++i) {
    counts[1] += x[2 * i];
    wrong += x[2 * i + 1] != x[2 * i] * static_cast<double>(domain.global_of(i));
  }
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return wrong + (counts[0] != counts[1]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::int64_t all = 0;
  {
    const Communicator comm(MPI_COMM_WORLD);
    for (int i = 1; i < argc; ++i) {
      std::int64_t wrong = check(argv[i]);
      MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      if (comm.rank() == 0) std::printf("C++ %s: %s\n", argv[i], wrong ? "WRONG" : "right");
      all += wrong;
    }
  }
  MPI_Finalize();
  return all != 0;
}

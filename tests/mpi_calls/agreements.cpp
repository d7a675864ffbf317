// Counts the global reductions that construct an exchange: each waits for the slowest rank.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "watch.hpp"

using namespace parhelion;

namespace {

/// Number of reductions to construct an exchange of `count` fields.
int reductions(const CartesianDomain& domain, const std::string& transport, int count) {
  std::vector<Array<double>> arrays;
  std::vector<Field> fields;
  for (int f = 0; f < count; ++f) arrays.push_back(make_array<double>(domain));
  for (auto& array : arrays) fields.push_back(view(array));
  const Pattern pattern = build_pattern(domain);
  const int before = watched_reductions();
  const Exchange exchange(pattern, fields, {.transport = transport});
  return watched_reductions() - before;
}

bool takes_at_most(int most, int taken, const std::string& what) {
  if (taken <= most) return true;
  std::printf("FAILED: %s takes %d reductions, more than %d\n", what.c_str(), taken, most);
  std::fflush(stdout);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool all = true;
  {
    const CartesianDomain domain(
        {8 * Communicator(MPI_COMM_WORLD).size(), 8}, {.halo = 1, .periodic = true});
    reductions(domain, "mpi", 1);  // sets up the communicator's own resources
    // Three reductions: arguments, messages received from neighbors, resources acquired. One
    // more per direction in which a transport allocates memory.
    all = takes_at_most(3, reductions(domain, "mpi", 4), "mpi") && all;
    for (const char* transport : {"shared", "staged_shared"})
      all = takes_at_most(5, reductions(domain, transport, 4), transport) && all;
    reductions(domain, "auto", 4);
    all = takes_at_most(6, reductions(domain, "auto", 3),
              "auto, after one of four fields, with three of them") &&
          all;
  }
  MPI_Finalize();
  return all ? 0 : 1;
}

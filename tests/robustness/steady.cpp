// steady TRANSPORT: batches of exchanges between marks for a system-call tracer (an lseek on
// descriptor -1).
#include <unistd.h>

#include <string>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) return 2;
  {
    const CartesianDomain domain({32, 16, 16}, {.halo = 1, .periodic = true});
    auto u = make_array<double>(domain);
    Exchange exchange(build_pattern(domain), {view(u)}, {argv[1]});
    const int rank = Communicator(MPI_COMM_WORLD).rank();
    const IndexMap map(
        IndexedDomain(500, {500 * (1 - rank) + 3, 500 * (1 - rank) + 77}), {argv[1]});
    std::vector<double, NodeAllocator<double>> x(502), y(502);
    std::vector<int, NodeAllocator<int>> z(502);
    for (int batch = 0; batch < 300; ++batch) {
      lseek(-1, batch, SEEK_SET);
      for (int i = 0; i < 20; ++i) {
        exchange();
        map.forward({i % 2 == 0 ? x : y, z});
      }
    }
    lseek(-1, 300, SEEK_SET);
  }
  MPI_Finalize();
}

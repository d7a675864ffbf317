// growth TRANSPORT: resources of exchanges in a periodic row of ranks, two neighbors each, maximum
// over ranks.
//
//
// Prints the number and bytes of node-shared mappings, and the descriptors (of node-shared memory
// and of processes).
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

namespace {

// The library's mappings, and UCX's (System V).
bool is_shared_memory(const std::string& line) {
  return line.find("memfd:parhelion") != std::string::npos ||
         line.find("/SYSV") != std::string::npos;
}

std::array<long, 2> count_mappings() {
  std::array<long, 2> found{};
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!is_shared_memory(line)) continue;
    unsigned long start = 0, end = 0;
    char dash;
    std::istringstream(line) >> std::hex >> start >> dash >> end;
    ++found[0];
    found[1] += static_cast<long>(end - start);
  }
  return found;
}

void meet_all() {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<int> to(static_cast<std::size_t>(comm.size())), from = to;
  MPI_Alltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, comm.handle());
  MPI_Barrier(comm.handle());
}

long count_descriptors() {
  long found = 0;
  std::error_code gone;  // the iterator's own descriptor
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    found += is_shared_memory(target) || target.find("pidfd") != std::string::npos;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) return 2;
  {
    const Communicator comm(MPI_COMM_WORLD);
    const CartesianDomain domain(
        {10 * comm.size(), 10}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}});
    meet_all();  // excludes the connections of MPI
    const auto before = count_mappings();
    auto u = make_array<double>(domain);
    Exchange exchange(build_pattern(domain), {view(u)}, {argv[1]});
    exchange();
    exchange.reverse();
    const auto mappings = count_mappings();
    long mine[3] = {mappings[0] - before[0], mappings[1] - before[1], count_descriptors()}, most[3];
    MPI_Reduce(mine, most, 3, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (comm.rank() == 0)
      std::cout << "taken " << most[0] << " " << most[1] << " " << most[2] << std::endl;
  }
  MPI_Finalize();
}

// growth TRANSPORT: what exchanges in a periodic row of ranks, two neighbors each, take on the rank that takes most.
//
// Prints: node-shared mappings, their bytes, descriptors (of node-shared memory and of processes).
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

namespace {

constexpr const char* memory_name = "memfd:parhelion";

std::array<long, 2> count_mappings() {
    std::array<long, 2> found{};
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(memory_name) == std::string::npos) continue;
        unsigned long start = 0, end = 0;
        char dash;
        std::istringstream(line) >> std::hex >> start >> dash >> end;
        ++found[0];
        found[1] += static_cast<long>(end - start);
    }
    return found;
}

long count_descriptors() {
    long found = 0;
    std::error_code gone;  // the directory's own descriptor
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        found += target.find(memory_name) != std::string::npos || target.find("pidfd") != std::string::npos;
    }
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) return 2;
    {
        const Communicator comm;
        const CartesianDomain domain({10 * comm.size(), 10}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}});
        auto u = make_array<double>(domain);
        Exchange exchange(build_pattern(domain), {view(u)}, {argv[1]});
        exchange();
        exchange.reverse();
        const auto mappings = count_mappings();
        long mine[3] = {mappings[0], mappings[1], count_descriptors()}, most[3];
        MPI_Reduce(mine, most, 3, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
        if (comm.rank() == 0) std::cout << "taken " << most[0] << " " << most[1] << " " << most[2] << std::endl;
    }
    MPI_Finalize();
}

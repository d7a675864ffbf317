// What setting up an index map costs as ranks grow and each keeps its cells: time and memory of
// every stage. Natively (target phl-map-setup) or under SMPI, where thousands of ranks are one
// process.
//
//     phl-map-setup GRID EXTENT      e.g. 12x12x12 16x16x16
//
// Rank r owns a block of a periodic grid, numbered rank after rank, and reads the layer of cells
// around it, in random order. Rank 0 prints a line per stage: seconds on the last rank (simulated
// ones under SMPI), bytes per rank that the stage left allocated, most and mean over processes.
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/exchange/exchange.hpp"

using namespace parhelion;

extern std::atomic<long> live_bytes;  // counted_new.cpp

namespace {

using Triple = std::array<int, 3>;

Triple triple(const char* text) {
    Triple t{1, 1, 1};
    if (std::sscanf(text, "%dx%dx%d", &t[0], &t[1], &t[2]) != 3)
        throw Error(std::string("'") + text + "' is not NxNxN");
    return t;
}

int wrapped(int at, int extent) { return (at + extent) % extent; }

struct Grid {
    Triple ranks, extent;
    int cells() const { return extent[0] * extent[1] * extent[2]; }

    // A cell's id from its place in the whole grid: the owner's block, then the place in it.
    global_index id(const Triple& cell) const {
        global_index rank = 0, place = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            const int at = wrapped(cell[d], ranks[d] * extent[d]);
            rank = rank * ranks[d] + at / extent[d];
            place = place * extent[d] + at % extent[d];
        }
        return rank * cells() + place;
    }

    std::vector<global_index> layer_around(int rank) const {
        const Triple first{rank / (ranks[1] * ranks[2]) * extent[0],
                           rank / ranks[2] % ranks[1] * extent[1], rank % ranks[2] * extent[2]};
        std::vector<global_index> ids;
        Triple at;
        for (at[0] = -1; at[0] <= extent[0]; ++at[0])
            for (at[1] = -1; at[1] <= extent[1]; ++at[1])
                for (at[2] = -1; at[2] <= extent[2]; ++at[2]) {
                    const global_index cell =
                        id({first[0] + at[0], first[1] + at[1], first[2] + at[2]});
                    if (cell / cells() != rank) ids.push_back(cell);
                }
        std::mt19937 random(static_cast<unsigned>(rank));
        for (std::size_t left = ids.size(); left > 1; --left)
            std::swap(ids[left - 1], ids[random() % left]);
        return ids;
    }
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Runs a stage on all ranks and prints what it took. In one process for all ranks (SMPI) the bytes
// are those of all of them.
template <class Work>
auto stage(MPI_Comm comm, bool one_process, const char* name, Work&& work) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Barrier(comm);
    const long before = live_bytes;
    MPI_Barrier(comm);
    const double start = MPI_Wtime(), busy = cpu_seconds();
    auto result = work();
    double took = MPI_Wtime() - start;
    MPI_Barrier(comm);
    double most = static_cast<double>(live_bytes - before) / (one_process ? ranks : 1), sum = most,
           cpu = cpu_seconds() - busy;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == 0)
        std::printf("%6d ranks  %-15s %11.3f ms  %10.1f KiB most %10.1f KiB mean  %9.3f ms CPU\n",
                    ranks, name, took * 1e3, most / 1024, sum / ranks / 1024,
                    cpu * 1e3 / (one_process ? ranks : 1));
    return result;
}

int run(const Grid& grid, bool one_process) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks != grid.ranks[0] * grid.ranks[1] * grid.ranks[2])
        throw Error("GRID does not have as many points as there are ranks");
    std::vector<global_index> ghosts = grid.layer_around(rank);
    std::vector<double> x(static_cast<std::size_t>(grid.cells()) + ghosts.size(), -1);
    const Communicator known = stage(comm, one_process, "communicator", [&] {
        Communicator made(comm);
        made.node();  // who shares memory: one split of the communicator
        return made;
    });
    const IndexedDomain domain = stage(comm, one_process, "domain", [&] {
        return IndexedDomain(grid.cells(), std::move(ghosts), known);
    });
    Pattern pattern = stage(comm, one_process, "pattern", [&] { return build_pattern(domain); });
    auto exchange = stage(comm, one_process, "exchange", [&] {
        return std::make_unique<Exchange>(std::move(pattern),
                                          std::vector<Field>{view(domain, x.data())},
                                          ExchangeOptions{.transport = "mpi"});
    });
    for (local_index i = 0; i < domain.owned(); ++i)
        x[static_cast<std::size_t>(i)] = static_cast<double>(domain.global_of(i));
    stage(comm, one_process, "first gather", [&] { return (*exchange)(), 0; });
    int wrong = 0;
    for (local_index i = 0; i < domain.size(); ++i)
        wrong += x[static_cast<std::size_t>(i)] != static_cast<double>(domain.global_of(i));
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0) std::printf("%6d ranks  %d wrong values\n", ranks, wrong);
    return wrong > 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 2;
    try {
        if (argc != 3) throw Error("use: phl-map-setup GRID EXTENT");
#ifdef PHL_UNDER_SMPI
        constexpr bool one_process = true;
#else
        constexpr bool one_process = false;
#endif
        status = run({triple(argv[1]), triple(argv[2])}, one_process);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "phl-map-setup: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return status;
}

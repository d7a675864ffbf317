#pragma once

#include "gather/cells.hpp"
#include "memory.hpp"
#include "variant.hpp"

// Hand-written gathers of off-process cells. Every rank may have any number of neighbors, none
// included.

namespace parhelion::bench {

struct GatherSetup {
    MPI_Comm comm = MPI_COMM_WORLD;  // the library has a duplicate of it to itself
    GatherParams params;
    std::shared_ptr<const IndexedDomain> domain;
    std::shared_ptr<GatherArray> array;  // ordinary memory of this process
    std::shared_ptr<MadeOnce<GatherArray>> node_shared = std::make_shared<MadeOnce<GatherArray>>();

    std::size_t bytes() const {
        return static_cast<std::size_t>(domain->size()) * params.cell_bytes();
    }
    /// An array in other memory, which holds one block.
    std::shared_ptr<GatherArray> array_in(std::shared_ptr<const Memory> memory) const {
        return std::make_shared<GatherArray>(params, domain, std::move(memory));
    }
};

/// Packed by hand with MPI_Isend, persistent requests, a neighborhood collective (the published
/// Fortran code) or MPI_Put.
void add_by_hand(std::vector<Entry>& entries, const GatherSetup& setup);

void add_floors(std::vector<Entry>& entries, const GatherSetup& setup);

}  // namespace parhelion::bench

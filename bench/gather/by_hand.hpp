#pragma once

#include "gather/cells.hpp"
#include "memory.hpp"
#include "variant.hpp"

// Hand-written gathers of off-process cells. A rank may have no neighbor.

namespace parhelion::bench {

struct GatherSetup {
  MPI_Comm comm = MPI_COMM_WORLD;  // the library duplicates it
  GatherParams params;
  std::shared_ptr<const IndexedDomain> domain;
  std::shared_ptr<GatherArray> array;  // in private memory
  std::shared_ptr<MadeOnce<GatherArray>> node_shared = std::make_shared<MadeOnce<GatherArray>>();

  std::size_t bytes() const {
    return static_cast<std::size_t>(domain->size()) * params.cell_bytes();
  }
  /// An array on the one block of `memory`.
  std::shared_ptr<GatherArray> array_in(std::shared_ptr<const Memory> memory) const {
    return std::make_shared<GatherArray>(params, domain, std::move(memory));
  }
};

/// Adds packed gathers over MPI_Isend, persistent requests, a neighborhood collective (the
/// published Fortran code) and MPI_Put.
void add_by_hand(std::vector<Entry>& entries, const GatherSetup& setup);

void add_floors(std::vector<Entry>& entries, const GatherSetup& setup);

}  // namespace parhelion::bench

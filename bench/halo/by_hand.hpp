#pragma once

#include "halo/arrays.hpp"
#include "memory.hpp"
#include "variant.hpp"

namespace parhelion::bench {

struct HaloSetup {
  MPI_Comm comm = MPI_COMM_WORLD;  // the library duplicates it
  HaloParams params;
  HaloGeometry geometry = {};
  std::shared_ptr<HaloArrays> arrays = {};  // in private or device memory
  std::shared_ptr<Values> values = arrays;
  std::shared_ptr<MadeOnce<HaloArrays>> node_shared = std::make_shared<MadeOnce<HaloArrays>>();

  std::size_t bytes() const {
    return static_cast<std::size_t>(cells_per_array(geometry)) * geometry.cell_bytes;
  }
};

/// Adds hand-written exchanges: packed or over datatypes, with one message per neighbor or per rank
/// (`merged`), over neighborhood collectives, or dimension by dimension (`staged`).
void add_by_hand(std::vector<Entry>& entries, const HaloSetup& setup);

/// Collective. A lower bound of the case's time: each rank copies as many cells in its own memory.
VariantPointer make_floor(const HaloSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

#pragma once

#include "halo/arrays.hpp"
#include "memory.hpp"
#include "variant.hpp"

namespace parhelion::bench {

struct HaloSetup {
    MPI_Comm comm = MPI_COMM_WORLD;  // the library has a duplicate of it to itself
    HaloParams params;
    HaloGeometry geometry;
    std::shared_ptr<HaloArrays> arrays;  // ordinary memory of this process, or a device's
    std::shared_ptr<Values> values = arrays;
    std::shared_ptr<MadeOnce<HaloArrays>> node_shared = std::make_shared<MadeOnce<HaloArrays>>();

    std::size_t bytes() const {
        return static_cast<std::size_t>(cells_per_array(geometry)) * geometry.cell_bytes;
    }
};

/// Exchanges as a careful programmer would write them, packed or over datatypes, in one message per
/// neighbor, or per rank (`merged`), in neighborhood collectives, dimension by dimension
/// (`staged`), and node by node.
void add_by_hand(std::vector<Entry>& entries, const HaloSetup& setup);

/// Collective. The bound of the case: the same cells copied within each rank's own memory.
VariantPointer make_floor(const HaloSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

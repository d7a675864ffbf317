#pragma once

#include "gather/cells.hpp"
#include "memory.hpp"
#include "variant.hpp"

// Hand-written gathers of off-process cells. Every rank may have any number of neighbors, none
// included.

namespace parhelion::bench {

/// What the variants of a gather case start from.
struct GatherSetup {
    MPI_Comm comm = MPI_COMM_WORLD;  // the library has a duplicate of it to itself
    GatherParams params;
    std::shared_ptr<const IndexedDomain> domain;
    std::shared_ptr<GatherArray> array;  // ordinary memory of this process
    std::shared_ptr<MadeOnce<GatherArray>> node_shared = std::make_shared<MadeOnce<GatherArray>>();

    /// Of an array.
    std::size_t bytes() const {
        return static_cast<std::size_t>(domain->size()) * params.cell_bytes();
    }
    /// An array in other memory, which holds one block.
    std::shared_ptr<GatherArray> array_in(std::shared_ptr<const Memory> memory) const {
        return std::make_shared<GatherArray>(params, domain, std::move(memory));
    }
};

/// A variant on an array and the lists of its cells.
class HandGather : public Variant {
public:
    HandGather(std::shared_ptr<GatherArray> array, IndexLists lists)
        : array_(std::move(array)), lists_(std::move(lists)) {}

    Values& values() final { return *array_; }
    Traffic traffic() const override { return traffic_of(lists_, array_->cell_bytes()); }

protected:
    int bytes_to(std::size_t target) const {
        return static_cast<int>(lists_.sent_to(target) * array_->cell_bytes());
    }
    int bytes_from(std::size_t source) const {
        return static_cast<int>(lists_.read_from(source) * array_->cell_bytes());
    }
    std::byte* ghosts_from(std::size_t source) const {
        return array_->ghosts() + lists_.ghost_offset[source] * array_->cell_bytes();
    }
    void pack(std::size_t target, std::byte* to) const {
        pack_cells(array_->cells(), lists_.cells.data() + lists_.send_offset[target],
                   lists_.sent_to(target), array_->cell_bytes(), to);
    }

    std::shared_ptr<GatherArray> array_;
    IndexLists lists_;
};

/// Finds the lists, then makes the variant that uses them.
template <class Baseline, auto... more>
VariantPointer make_of_lists(const GatherSetup& setup, SetupTimes& times) {
    IndexLists lists = timed(times.pattern, [&] {
        return build_index_lists(setup.comm, *setup.domain, setup.params.cell_bytes());
    });
    return timed(times.plan,
                 [&] { return std::make_unique<Baseline>(setup, std::move(lists), more...); });
}

/// Packed by hand with MPI_Isend, persistent requests, a neighborhood collective (the published
/// Fortran code) or MPI_Put; indexed datatypes in MPI_Neighbor_alltoallw; and node by node.
void add_by_hand(std::vector<Entry>& entries, const GatherSetup& setup);

/// See halo/floor.cpp.
void add_floors(std::vector<Entry>& entries, const GatherSetup& setup);

}  // namespace parhelion::bench

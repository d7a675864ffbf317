#pragma once

#include <mpi.h>

#include "clock.hpp"
#include "gather/arrays.hpp"
#include "gather/index_lists.hpp"
#include "node_shared.hpp"

// Hand-written gathers of off-process cells. Every rank may have any number of neighbors, none
// included.

namespace parhelion::bench {

/// What the contenders of a gather case start from.
struct GatherSetup {
    MPI_Comm comm = MPI_COMM_WORLD;  // the library has a duplicate of it to itself
    GatherParams params;
    std::shared_ptr<const IndexedDomain> domain;
    std::shared_ptr<GatherArray> array;  // ordinary memory of this process
    std::shared_ptr<MadeOnce<GatherArray>> node_shared = std::make_shared<MadeOnce<GatherArray>>();
};

/// A contender on the case's array, or one of its own, and the lists of its cells.
class HandGather : public Contender {
public:
    HandGather(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup.array, std::move(lists)) {}
    HandGather(std::shared_ptr<GatherArray> array, IndexLists lists)
        : array_(std::move(array)), lists_(std::move(lists)) {}

    Values& values() final { return *array_; }
    Traffic traffic() const override { return traffic_of(lists_, array_->cell_bytes()); }

protected:
    /// Of a buffer for all cells that are sent, target after target.
    std::size_t buffer_bytes() const { return lists_.cells.size() * array_->cell_bytes(); }
    std::size_t place_for(std::size_t t) const {
        return lists_.send_offset[t] * array_->cell_bytes();
    }
    int bytes_for(std::size_t t) const {
        return static_cast<int>(lists_.sent_to(t) * array_->cell_bytes());
    }
    void pack_for(std::size_t t, std::byte* to) const {
        pack_cells(array_->cells(), lists_.cells.data() + lists_.send_offset[t], lists_.sent_to(t),
                   array_->cell_bytes(), to);
    }
    std::byte* ghosts_of(std::size_t s) const {
        return array_->ghosts() + lists_.ghost_offset[s] * array_->cell_bytes();
    }
    int bytes_of(std::size_t s) const {
        return static_cast<int>(lists_.read_from(s) * array_->cell_bytes());
    }

    std::shared_ptr<GatherArray> array_;
    IndexLists lists_;
};

/// Finds the lists, then makes the contender that uses them.
template <class Way, class... More>
ContenderPointer make_of_lists(const GatherSetup& setup, SetupTimes& times, const More&... more) {
    IndexLists lists = timed(times.pattern, [&] {
        return build_index_lists(setup.comm, *setup.domain, setup.params.cell_bytes());
    });
    return timed(times.plan,
                 [&] { return std::make_unique<Way>(setup, std::move(lists), more...); });
}

/// The published Fortran way: pack by index list, MPI_Neighbor_alltoallv straight into the ghosts.
ContenderPointer make_gather_neighbor_alltoallv(const GatherSetup& setup, SetupTimes& times);

/// Pack and start persistent sends one by one, receive straight into the ghosts.
ContenderPointer make_gather_persistent_packed(const GatherSetup& setup, SetupTimes& times);

/// The same with Irecv and Isend.
ContenderPointer make_gather_isend(const GatherSetup& setup, SetupTimes& times);

/// MPI_Neighbor_alltoallw over indexed types, nothing packed by hand.
ContenderPointer make_gather_alltoallw(const GatherSetup& setup, SetupTimes& times);

/// Pack, MPI_Put straight into the reader's ghosts, synchronised by post, start, complete and wait.
ContenderPointer make_gather_put(const GatherSetup& setup, SetupTimes& times);

/// What goes to other nodes in three steps: packed into memory of the node's first rank, one
/// message from node to node, copied into the ghosts.
ContenderPointer make_gather_nodes(const GatherSetup& setup, SetupTimes& times);

/// Another library's, from a plug-in. Throws CannotRun on every rank where there is no plug-in, or
/// where it cannot do the case.
ContenderPointer make_gather_peer(const std::string& library, const std::string& variant,
                                  const GatherSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

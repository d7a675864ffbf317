#pragma once

#include <mpi.h>

#include "clock.hpp"
#include "halo/messages.hpp"
#include "node_shared.hpp"

// Hand-written halo exchanges, each as a careful programmer would write it. They share the
// geometry, the copy loops and one habit: a periodic image of the rank's own cells is copied in
// place while messages travel, never sent.

namespace parhelion::bench {

/// What the contenders of a halo case start from.
struct HaloSetup {
    MPI_Comm comm = MPI_COMM_WORLD;  // the library has a duplicate of it to itself
    HaloParams params;
    HaloGeometry geometry;
    std::shared_ptr<HaloArrays> arrays;  // ordinary memory of this process
    std::shared_ptr<MadeOnce<HaloArrays>> node_shared = std::make_shared<MadeOnce<HaloArrays>>();
};

/// A contender on the case's arrays, in two halves.
class HandHalo : public Contender {
public:
    explicit HandHalo(const HaloSetup& setup) : arrays_(setup.arrays) {}

    void exchange() final {
        begin();
        end();
    }
    bool has_halves() const final { return true; }
    Values& values() final { return *arrays_; }

private:
    std::shared_ptr<HaloArrays> arrays_;
};

/// Finds the case's messages, then makes the contender that sends them.
template <class Way, Grouping grouping = Grouping::per_rank>
ContenderPointer make_of_messages(const HaloSetup& setup, SetupTimes& times) {
    Messages messages =
        timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<Way>(setup, std::move(messages)); });
}

/// Packed by rank, one MPI_Ineighbor_alltoallv.
ContenderPointer make_hand_neighbor_alltoallv(const HaloSetup& setup, SetupTimes& times);

/// The same as a persistent collective; for MPI 4 and later.
ContenderPointer make_hand_neighbor_alltoallv_init(const HaloSetup& setup, SetupTimes& times);

/// One MPI_Ineighbor_alltoallw over datatypes.
ContenderPointer make_hand_neighbor_alltoallw(const HaloSetup& setup, SetupTimes& times);

/// One dimension after the other, corners forwarded: two messages per dimension. For the full halo
/// only.
ContenderPointer make_hand_staged(const HaloSetup& setup, SetupTimes& times);

/// One dimension after the other over datatypes instead of packing.
ContenderPointer make_hand_staged_datatype(const HaloSetup& setup, SetupTimes& times);

/// Another library's, from a plug-in. Throws CannotRun on every rank where there is no plug-in, or
/// where it cannot do the case.
ContenderPointer make_halo_peer(const std::string& library, const std::string& variant,
                                const HaloSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

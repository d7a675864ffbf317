#pragma once

#include "alltoall/buffers.hpp"

// Ways of an alltoall, MPI's own and written out. Each is collective; what it takes is added to `times.plan`.

namespace parhelion::bench {

using ContenderPointer = std::unique_ptr<Contender>;

ContenderPointer make_mpi_alltoall(const AlltoallSetup& setup, SetupTimes& times);
ContenderPointer make_mpi_alltoall_init(const AlltoallSetup& setup, SetupTimes& times);
ContenderPointer make_mpi_ialltoall(const AlltoallSetup& setup, SetupTimes& times);
ContenderPointer make_mpi_alltoallv(const AlltoallSetup& setup, SetupTimes& times);

/// One partner after the other: in step i rank r sends to r + i and receives from r - i, or both with r xor i where the
/// ranks are a power of two (Thakur, Rabenseifner & Gropp, IJHPCA 2005, section 4.4).
ContenderPointer make_pairwise(const AlltoallSetup& setup, SetupTimes& times);

/// All partners at once, each rank beginning with the one behind it, so that no rank is everybody's first.
ContenderPointer make_spread_out(const AlltoallSetup& setup, SetupTimes& times);

/// The same with requests that are made once.
ContenderPointer make_spread_out_init(const AlltoallSetup& setup, SetupTimes& times);

/// Logarithmically many messages, each of half the data (Bruck et al., IEEE TPDS 1997): for small blocks.
ContenderPointer make_bruck(const AlltoallSetup& setup, SetupTimes& times);

/// Through shared memory inside a node, and one message per pair of nodes between them.
ContenderPointer make_node_aware(const AlltoallSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

// Which threads may call MPI.
#pragma once

namespace parhelion {

/// Whether MPI provides MPI_THREAD_MULTIPLE. Local.
bool mpi_serves_all_threads();

/// Whether this thread may call MPI: every thread from MPI_THREAD_SERIALIZED on, else the main one.
/// Local.
bool mpi_serves_this_thread();

}  // namespace parhelion

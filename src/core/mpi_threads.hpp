// Which threads may call MPI.
#pragma once

namespace parhelion {

/// Whether MPI was started with MPI_THREAD_MULTIPLE. Local.
bool mpi_serves_all_threads();

/// Whether this thread may call MPI: any may unless MPI was started for the main thread only.
/// Local.
bool mpi_serves_this_thread();

}  // namespace parhelion

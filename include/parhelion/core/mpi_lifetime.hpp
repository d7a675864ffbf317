// Whether MPI may be called (between MPI_Init and MPI_Finalize), and by which threads.
#pragma once

#include <mpi.h>

#include <atomic>

namespace parhelion {

namespace detail {
extern std::atomic<bool> mpi_ended;  // set at the start of MPI_Finalize and in a forked child
[[noreturn]] void complain_that_mpi_ended();
}  // namespace detail

/// Whether MPI_Finalize has begun, or this process was forked from a rank and so must not call MPI.
/// Valid once a Communicator exists. One load: cheap enough for every exchange. Local.
inline bool mpi_has_ended() noexcept { return detail::mpi_ended.load(std::memory_order_relaxed); }

/// Throws Error if mpi_has_ended(); as cheap. Local.
inline void require_mpi_not_ended() {
  if (mpi_has_ended()) [[unlikely]]
    detail::complain_that_mpi_ended();
}

/// Whether this process was forked from a rank: it has one thread, and locks may be held forever.
bool is_forked_child() noexcept;

/// Throws Error before MPI_Init, after MPI_Finalize and in a forked child. From then on,
/// mpi_has_ended() detects the end of MPI. Local.
void require_mpi();

/// Whether MPI provides MPI_THREAD_MULTIPLE. Local.
bool mpi_serves_all_threads();
/// Whether this thread may call MPI: any from MPI_THREAD_SERIALIZED on, else the main one. Local.
bool mpi_serves_this_thread();

/// The communicator of a Fortran handle, an `int` in every MPI. Throws as require_mpi does: MPI
/// libraries abort outside MPI_Init … MPI_Finalize. Local.
MPI_Comm comm_from_fortran(int handle);

/// A Fortran handle that converts to MPI_Comm when used.
struct FortranComm {
  int handle;
  operator MPI_Comm() const { return comm_from_fortran(handle); }  // NOLINT: implicit
};

/// MPI_Finalize calls `work` after mpi_has_ended() becomes true. It must not throw. Thread-safe.
void when_mpi_ends(void (*work)());

}  // namespace parhelion

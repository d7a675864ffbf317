// Between MPI_Init and MPI_Finalize: outside of that nothing may be asked of MPI.
#pragma once

#include <mpi.h>

#include <atomic>

namespace parhelion {

namespace detail {
extern std::atomic<bool>
    mpi_ended;  // set by MPI_Finalize itself, before it ends anything, and in a forked child
[[noreturn]] void complain_that_mpi_ended();
}  // namespace detail

/// Whether MPI_Finalize has begun, or this process was forked from a rank, whose MPI it must not
/// use. Known as soon as a Communicator has been made, and costs one load: for destructors, and for
/// what runs in every exchange. Local.
inline bool mpi_has_ended() noexcept { return detail::mpi_ended.load(std::memory_order_relaxed); }

/// Throws Error then; as cheap as mpi_has_ended. Local.
inline void require_mpi_not_ended() {
    if (mpi_has_ended()) [[unlikely]]
        detail::complain_that_mpi_ended();
}

/// Whether this process was forked from a rank: of its threads there is one, and locks stay as they
/// were.
bool is_forked_child() noexcept;

/// Throws Error before MPI_Init, after MPI_Finalize and in a forked child. Makes sure that the end
/// of MPI will be noticed. Local.
void require_mpi();

/// The communicator that a handle of Fortran's means, which is an `int` under every MPI. Throws as
/// require_mpi does: MPIs abort when they are asked too early or too late. Local.
MPI_Comm comm_from_fortran(int handle);

/// The same where a communicator is expected, converted when it is used.
struct FortranComm {
    int handle;
    operator MPI_Comm() const { return comm_from_fortran(handle); }  // NOLINT: implicit on purpose
};

/// `work` is called by MPI_Finalize, after mpi_has_ended has become true. It must not throw.
/// Thread-safe.
void when_mpi_ends(void (*work)());

}  // namespace parhelion

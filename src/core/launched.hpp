// Checks that launcher and MPI match. Python checks the same environment variables:
// python/parhelion/launch/jobs.py and python/parhelion/native/alone.py.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace parhelion {

/// A launcher's environment variables: its kind ("slurm", "hydra", …), this rank, and the number of
/// ranks.
struct Launched {
    std::string kind;
    int rank = 0;
    int size = 1;
};

/// Returns nullopt unless a launcher set rank and size. Local.
std::optional<Launched> launched();

/// The command that starts all ranks of this program under its MPI. `version`: from
/// MPI_Get_library_version. Local.
std::string right_start(const Launched& told, const std::string& version);

/// Throws Error when a launcher started several ranks and MPI sees only one, so that each would
/// compute the whole problem, unless PARHELION_ALONE=1. Skips the check when `user` has several
/// ranks. Local.
void require_all_ranks(MPI_Comm user);

/// Throws Error when the program is linked with an MPI of another ABI than this library. Local;
/// checks once.
void require_own_mpi();

/// Why MPI cannot start under this launcher, empty when no reason is known. Call before MPI_Init.
/// Local.
std::string why_mpi_will_not_start();

}  // namespace parhelion

// Whether this process's launcher and its MPI know each other. Python asks alike, with what
// launchers leave in the environment: python/parhelion/launch/jobs.py and
// python/parhelion/native/alone.py.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace parhelion {

/// What a launcher has told this process by variables: whose launcher it is ("slurm", "hydra", …),
/// which rank this is, and of how many.
struct Launched {
    std::string kind;
    int rank = 0;
    int size = 1;
};

/// Nothing where no launcher has told both. Local.
std::optional<Launched> launched();

/// The command that starts all ranks of this very program under its MPI. `version`: as
/// MPI_Get_library_version tells it. Local.
std::string right_start(const Launched& told, const std::string& version);

/// Throws Error where a launcher has started several ranks and MPI knows of this one alone, so that
/// each would compute the whole problem; PARHELION_ALONE=1 says that this is meant. Where `user`
/// has several ranks, nothing is asked. Local.
void require_all_ranks(MPI_Comm user);

/// Throws Error where the program was linked with another MPI than this library was built for,
/// whose handles and functions mean something else. Local; looks once.
void require_own_mpi();

/// Why MPI will not start under this launcher; empty where nothing is known against it. Before
/// MPI_Init. Local.
std::string why_mpi_will_not_start();

}  // namespace parhelion

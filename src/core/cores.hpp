// Whether ranks have cores of their own.
#pragma once

namespace parhelion {

/// More ranks on this node than online cores, as far as the launcher tells (Hydra, Open MPI, Slurm); false when it tells
/// nothing. Local, no communication.
bool launcher_oversubscribes();

}  // namespace parhelion

// Whether ranks have cores of their own.
#pragma once

#include <chrono>

namespace parhelion {

/// Ranks on this node, as far as the launcher tells (Hydra, Open MPI, srun); 0 when it tells
/// nothing. Local, no communication.
long launched_ranks_here();

/// Cores that they have together: those that Slurm gave the step on this node where srun started
/// it, else all that are online; as many as control groups let run at once.
long launched_cores_here();

/// More ranks on this node than cores, as far as the launcher tells; looked for once. Local, no
/// communication.
bool launcher_oversubscribes();

/// Gives the core to another rank after the first few hundred calls, or the first few where ranks
/// share cores, and once it has waited 2 ms sleeps a twentieth of the time waited so far, a
/// millisecond at most. Polling MPI calls never do, and some blocking ones do not either: with more
/// ranks than cores, each would poll to the end of its time slice.
class Patience {
public:
    void wait() {
        if (++polls_ > eager_polls_) wait_slowly();
    }

private:
    void wait_slowly();
    long eager_polls_ =
        launcher_oversubscribes()
            ? 5
            : 200;  // of 8 ranks on 2 cores a reduction takes 34 µs with 5 and 88 with 200
    long polls_ = 0;
    std::chrono::steady_clock::time_point since_{};
};

}  // namespace parhelion

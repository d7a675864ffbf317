// Whether ranks have cores of their own.
#pragma once

namespace parhelion {

/// More ranks on this node than can run at the same time, as far as the launcher tells (Hydra, Open MPI, Slurm); false when it tells
/// nothing. Local, no communication.
bool launcher_oversubscribes();

/// Gives the core to another rank after the first few hundred calls. Polling MPI calls never do, and some blocking ones do
/// not either: with more ranks than cores, each would poll to the end of its time slice.
class Patience {
public:
    void wait() {
        if (++polls_ > eager_polls) yield();
    }

private:
    static void yield();
    static constexpr int eager_polls = 200;
    int polls_ = 0;
};

}  // namespace parhelion

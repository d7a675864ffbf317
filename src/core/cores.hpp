// Which hardware threads this process may run on, and how many ranks can run on them at the same
// time. The command line counts alike: python/parhelion/launch/cores.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

/// Hardware threads: a bit for each, in as many words as the kernel has, the same number for all
/// ranks of a node.
using CpuMask = std::vector<std::uint64_t>;

/// Those that this process may run on. Local; throws Error where the system does not tell.
CpuMask usable_threads();

/// The threads of a mask, the first of each core before the second of any: as many processes as
/// there are cores, placed in this order, share none. Local.
std::vector<int> core_by_core(const CpuMask& threads, const std::string& system = "/");

/// How many processes can run on `threads` at the same time: one on each, but no more than the
/// control group of this process and those around it grant time for. At least 1. `system` is where
/// /proc and /sys are. Local.
int processes_at_once(const CpuMask& threads, const std::string& system = "/");

/// How many of them can have a core of their own, which several hardware threads may share. At
/// least 1. Local.
int cores_at_once(const CpuMask& threads, const std::string& system = "/");

/// Gives the core to another rank after the first few calls, for with more ranks than cores each
/// would poll to the end of its time slice; once it has waited 2 ms it sleeps a twentieth of the
/// time waited so far, a millisecond at most.
class Patience {
public:
    void wait() {
        if (++polls_ > eager_polls) wait_slowly();
    }

private:
    static constexpr long eager_polls = 5;
    void wait_slowly();
    long polls_ = 0;
    std::chrono::steady_clock::time_point since_{};
};

}  // namespace parhelion

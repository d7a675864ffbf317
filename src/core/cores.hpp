// Hardware threads of this process, and how many ranks can run on them at the same time. The
// command line counts the same way: python/parhelion/launch/cores.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

/// One bit per hardware thread, in as many words as the kernel uses: equal for all ranks of a node.
using CpuMask = std::vector<std::uint64_t>;

/// The hardware threads that this process may run on. Local; throws Error when the system refuses.
CpuMask usable_threads();

/// The threads of a mask, the first of each core before the second of any, so that as many
/// processes as cores share none. Local.
std::vector<int> core_by_core(const CpuMask& threads, const std::string& system = "/");

/// Number of processes that can run on `threads` at the same time: one each, limited by the CPU
/// quota of the control groups. At least 1. `system`: root of /proc and /sys. Local.
int processes_at_once(const CpuMask& threads, const std::string& system = "/");

/// The same with one process per core instead of per hardware thread. At least 1. Local.
int cores_at_once(const CpuMask& threads, const std::string& system = "/");

/// Yields the core after a few calls, because with more ranks than cores each would poll to the end
/// of its time slice. After 2 ms it sleeps 1/20 of the time waited, at most 1 ms.
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

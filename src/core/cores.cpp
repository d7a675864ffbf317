#include "core/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

#include "core/usable_cores.hpp"

namespace parhelion {

namespace {

// All that are there: this process may be bound to some of them, as the others are to others.
CpuMask online_threads() {
    const auto count = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
    CpuMask threads(count / 64 + 1, 0);
    for (std::size_t thread = 0; thread < count; ++thread) threads[thread / 64] |= std::uint64_t{1} << (thread % 64);
    return threads;
}

}  // namespace

void Patience::yield() { sched_yield(); }

bool launcher_oversubscribes() {
    static const bool answer = [] {
        for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"})
            if (const char* text = std::getenv(name)) return std::atol(text) > processes_at_once(online_threads());
        return false;
    }();
    return answer;
}

}  // namespace parhelion

#include "core/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "core/usable_cores.hpp"

namespace parhelion {

namespace {

// All that are there: this process may be bound to some of them, as the others are to others.
CpuMask online_threads() {
    const auto count = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
    CpuMask threads(count / 64 + 1, 0);
    for (std::size_t thread = 0; thread < count; ++thread)
        threads[thread / 64] |= std::uint64_t{1} << (thread % 64);
    return threads;
}

long number_in(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atol(text);
}

// Launchers other than srun tell themselves, also inside an allocation of Slurm.
long ranks_by_other_launchers() {
    for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"})
        if (const long ranks = number_in(name); ranks > 0) return ranks;
    return 0;
}

// "2(x3),1": 2 tasks on each of three nodes, 1 on the fourth. 0 where that does not tell.
long tasks_on_node(const char* text, long node) {
    while (text != nullptr && *text != '\0') {
        char* end = nullptr;
        const long tasks = std::strtol(text, &end, 10);
        if (end == text) return 0;
        long nodes = 1;
        if (end[0] == '(' && end[1] == 'x') {
            nodes = std::strtol(end + 2, &end, 10);
            if (*end == ')') ++end;
        }
        if ((node -= nodes) < 0) return tasks;
        text = *end == ',' ? end + 1 : nullptr;
    }
    return 0;
}

}  // namespace

void Patience::wait_slowly() {
#ifdef PARHELION_SIMULATED  // time goes on in yields
    sched_yield();
#else
    constexpr std::chrono::milliseconds short_wait{2}, longest_sleep{1};
    const auto now = std::chrono::steady_clock::now();
    if (polls_ == eager_polls_ + 1) since_ = now;
    const auto waited = now - since_;
    if (waited < short_wait) sched_yield();
    else
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(waited / 20, longest_sleep));
#endif
}

// SLURM_NTASKS_PER_NODE is there only where --ntasks-per-node was given, and says what was asked
// for.
long launched_ranks_here() {
    if (const long ranks = ranks_by_other_launchers(); ranks > 0) return ranks;
    const long ranks =
        tasks_on_node(std::getenv("SLURM_STEP_TASKS_PER_NODE"), number_in("SLURM_NODEID"));
    return ranks > 0 ? ranks : number_in("SLURM_NTASKS_PER_NODE");
}

long launched_cores_here() {
    const long online = processes_at_once(online_threads()),
               given = ranks_by_other_launchers() > 0 ? 0 : number_in("SLURM_CPUS_ON_NODE");
    return given > 0 && given < online ? given : online;
}

bool launcher_oversubscribes() {
    static const bool answer = launched_ranks_here() > launched_cores_here();
    return answer;
}

}  // namespace parhelion

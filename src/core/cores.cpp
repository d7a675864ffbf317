#include "core/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace parhelion {

void Patience::yield() { sched_yield(); }

bool launcher_oversubscribes() {
    static const bool answer = [] {
        for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"})
            if (const char* text = std::getenv(name)) return std::atol(text) > sysconf(_SC_NPROCESSORS_ONLN);
        return false;
    }();
    return answer;
}

}  // namespace parhelion

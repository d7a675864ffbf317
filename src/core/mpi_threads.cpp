#include "core/mpi_threads.hpp"

#include <mpi.h>

namespace parhelion {
namespace {

// Requires a running MPI; constant from then on.
int thread_level() {
    static const int level = [] {
        int provided = MPI_THREAD_SINGLE;
        MPI_Query_thread(&provided);
        return provided;
    }();
    return level;
}

}  // namespace

bool mpi_serves_all_threads() { return thread_level() == MPI_THREAD_MULTIPLE; }

bool mpi_serves_this_thread() {
    if (thread_level() >= MPI_THREAD_SERIALIZED) return true;
    int main = 0;
    MPI_Is_thread_main(&main);
    return main != 0;
}

}  // namespace parhelion

// MPI for programs that have no MPI interface of their own language.
#include "guard.hpp"
#include "parhelion/phl.h"

using namespace parhelion;
using namespace parhelion::c;

extern "C" int phl_start(int* world) {
    return guarded([&] {
        int running = 0, ended = 0, provided = 0;
        MPI_Initialized(&running);
        MPI_Finalized(&ended);
        if (ended) throw Error("MPI has ended and cannot be started again: call phl_start once", ErrorKind::communication);
        if (!running) check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
        if (world != nullptr) *world = MPI_Comm_c2f(MPI_COMM_WORLD);
    });
}

extern "C" int phl_stop(void) {
    return guarded([] {
        int running = 0, ended = 0;
        MPI_Initialized(&running);
        MPI_Finalized(&ended);
        if (running && !ended) check_mpi(MPI_Finalize(), "MPI_Finalize");
    });
}

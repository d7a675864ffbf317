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

extern "C" int phl_rank_f(int comm, int32_t* rank, int32_t* size) {
    return guarded([&] {
        const MPI_Comm handle = comm_from_fortran(comm);
        if (handle == MPI_COMM_NULL) throw Error("the communicator is null: pass a valid one");
        if (rank != nullptr) check_mpi(MPI_Comm_rank(handle, rank), "MPI_Comm_rank");
        if (size != nullptr) check_mpi(MPI_Comm_size(handle, size), "MPI_Comm_size");
    });
}

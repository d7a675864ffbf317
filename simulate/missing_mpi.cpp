// What SMPI declares but does not have: matched probes. A simulated rank has one thread, so that probing and then
// receiving from the same source with the same tag is the same.
#include <mpi.h>

namespace {

struct Probed {
    int source, tag;
    MPI_Comm comm;
};

}  // namespace

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    MPI_Status found;
    const int code = MPI_Iprobe(source, tag, comm, flag, &found);
    if (code != MPI_SUCCESS || !*flag) return code;
    *message = reinterpret_cast<MPI_Message>(new Probed{found.MPI_SOURCE, found.MPI_TAG, comm});
    if (status != MPI_STATUS_IGNORE) *status = found;
    return MPI_SUCCESS;
}

extern "C" int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    auto* probed = reinterpret_cast<Probed*>(*message);
    const int code = MPI_Recv(buffer, count, type, probed->source, probed->tag, probed->comm, status);
    delete probed;
    *message = MPI_MESSAGE_NULL;
    return code;
}

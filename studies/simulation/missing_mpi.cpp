// What SMPI declares but does not have: matched probes. A simulated rank has one thread, so that probing and then
// receiving from the same source with the same tag is the same.
#include <mpi.h>

#include <cstring>
#include <vector>

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

// SMPI's own sends a message from every rank to every rank behind it: millions for thousands of ranks. This one doubles its
// distance in each step (Hillis and Steele 1986). For operations that commute.
extern "C" int MPI_Exscan(const void* mine, void* before, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    constexpr int tag = 4321;
    int rank, ranks, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_size(type, &size);
    const auto bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
    std::vector<char> window(bytes), received(bytes);
    std::memcpy(window.data(), mine, bytes);
    for (int distance = 1; distance < ranks; distance *= 2) {
        const int from = rank >= distance ? rank - distance : MPI_PROC_NULL;
        const int to = rank + distance < ranks ? rank + distance : MPI_PROC_NULL;
        MPI_Sendrecv(window.data(), count, type, to, tag, received.data(), count, type, from, tag, comm, MPI_STATUS_IGNORE);
        if (from == MPI_PROC_NULL) continue;
        if (distance == 1) std::memcpy(before, received.data(), bytes);
        else MPI_Reduce_local(received.data(), before, count, type, op);
        MPI_Reduce_local(received.data(), window.data(), count, type, op);
    }
    return MPI_SUCCESS;
}

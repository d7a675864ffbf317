// MPI calls that SMPI lacks, or that would take a simulation too long.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr int longest = 1 << 24;  // bytes; SMPI refuses longer messages by name

struct Taken {
    std::unique_ptr<char[]> bytes;
    MPI_Status status;
};

}  // namespace

// Matched probes. A simulated rank has one thread, and whoever looks for the message of a known
// rank has nothing else to do: it waits and takes the message.
extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
    *flag = 1;
    if (source == MPI_ANY_SOURCE) {
        MPI_Status found;
        const int code = MPI_Iprobe(source, tag, comm, flag, &found);
        if (code != MPI_SUCCESS || !*flag) return code;
        source = found.MPI_SOURCE, tag = found.MPI_TAG;
    }
    auto taken = std::make_unique<Taken>(Taken{std::unique_ptr<char[]>(new char[longest]), {}});
    const int code =
        MPI_Recv(taken->bytes.get(), longest, MPI_BYTE, source, tag, comm, &taken->status);
    if (code != MPI_SUCCESS) return code;
    if (status != MPI_STATUS_IGNORE) *status = taken->status;
    *message = reinterpret_cast<MPI_Message>(taken.release());
    return MPI_SUCCESS;
}

extern "C" int MPI_Mrecv(void* buffer, int, MPI_Datatype, MPI_Message* message,
                         MPI_Status* status) {
    const std::unique_ptr<Taken> taken(reinterpret_cast<Taken*>(*message));
    int bytes = 0;
    MPI_Get_count(&taken->status, MPI_BYTE, &bytes);
    std::memcpy(buffer, taken->bytes.get(), static_cast<std::size_t>(bytes));
    if (status != MPI_STATUS_IGNORE) *status = taken->status;
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

// SMPI's own sends a message from every rank to every rank behind it: millions for thousands of
// ranks. This one doubles its distance in each step (Hillis and Steele 1986). For operations that
// commute.
extern "C" int MPI_Exscan(const void* mine, void* before, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
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
        MPI_Sendrecv(window.data(), count, type, to, tag, received.data(), count, type, from, tag,
                     comm, MPI_STATUS_IGNORE);
        if (from == MPI_PROC_NULL) continue;
        if (distance == 1) std::memcpy(before, received.data(), bytes);
        else MPI_Reduce_local(received.data(), before, count, type, op);
        MPI_Reduce_local(received.data(), window.data(), count, type, op);
    }
    return MPI_SUCCESS;
}

// A rank that polls costs the simulation an event per poll, and gets the time between polls as an
// error. Ranks that wait for messages alone (PARHELION_PATIENT=1) have nothing else to do: they go
// on at the moment at which a poll would have found the next message.
extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
    static const bool patient = std::getenv("PARHELION_PATIENT") != nullptr &&
                                std::strcmp(std::getenv("PARHELION_PATIENT"), "1") == 0;
    if (!patient) return PMPI_Testany(count, requests, index, flag, status);
    *flag = 1;
    return MPI_Waitany(count, requests, index, status);
}

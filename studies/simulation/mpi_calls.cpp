// MPI calls that SMPI lacks or that simulate too slowly.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

constexpr int longest = 1 << 24;  // bytes; SMPI rejects longer messages with an error

struct Taken {
  std::unique_ptr<char[]> bytes;
  MPI_Status status;
};

}  // namespace

// Matched probes. A simulated rank has one thread and probes a known source only when it has
// nothing else to do, so this blocks and receives the message.
extern "C" int MPI_Improbe(
    int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
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

extern "C" int MPI_Mrecv(
    void* buffer, int, MPI_Datatype, MPI_Message* message, MPI_Status* status) {
  const std::unique_ptr<Taken> taken(reinterpret_cast<Taken*>(*message));
  int bytes = 0;
  MPI_Get_count(&taken->status, MPI_BYTE, &bytes);
  std::memcpy(buffer, taken->bytes.get(), static_cast<std::size_t>(bytes));
  if (status != MPI_STATUS_IGNORE) *status = taken->status;
  *message = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

// Polling costs an event per poll, and an error of up to the time between polls. Ranks that wait
// for messages only (PARHELION_PATIENT=1) block until the next message instead.
extern "C" int MPI_Testany(
    int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  static const bool patient = std::getenv("PARHELION_PATIENT") != nullptr &&
                              std::strcmp(std::getenv("PARHELION_PATIENT"), "1") == 0;
  if (!patient) return PMPI_Testany(count, requests, index, flag, status);
  *flag = 1;
  return MPI_Waitany(count, requests, index, status);
}

// An MPI that moves memory of the driver that is against us, preloaded before the MPI of the tests.
// MOVING_MPI=loses: its receives do not arrive; fails: its sends are errors. MOVING_MPI_MOST:
// larger messages are those of an MPI that does not know devices. MOVING_MPI=silent: says that it
// moves none.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "plan/device/driver.hpp"

namespace {

using namespace parhelion::device;

struct Moved {
  void* to;  // null: sent
  std::vector<char> bytes;
};

// State of the process, under one mutex.
struct State {
  std::mutex mutex;
  std::map<MPI_Request, Moved> under_way;
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

template <class... Parameters>
int call(const char* name, Parameters... parameters) {
  static void* const driver = dlopen(std::getenv("PARHELION_CUDA"), RTLD_NOW);
  return reinterpret_cast<int (*)(Parameters...)>(dlsym(driver, name))(parameters...);
}

bool is(const char* kind) {
  const char* const told = std::getenv("MOVING_MPI");
  return told != nullptr && std::strcmp(told, kind) == 0;
}

// Of a message in device memory, else 0.
std::size_t device_bytes(const void* memory, int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  const char* const most = std::getenv("MOVING_MPI_MOST");
  unsigned where = type_host;
  const int status = call("cuPointerGetAttribute", static_cast<void*>(&where),
      +attribute_memory_type, reinterpret_cast<Address>(memory));
  const bool is_moved = status == success && where != type_host &&
                        (most == nullptr || bytes <= static_cast<std::size_t>(std::atoll(most)));
  return is_moved ? bytes : 0;
}

template <class... Parameters>
void copy(const void* device, const char* name, Parameters... parameters) {
  Context context = nullptr;
  call("cuPointerGetAttribute", static_cast<void*>(&context), +attribute_context,
      reinterpret_cast<Address>(device));
  call("cuCtxPushCurrent_v2", context);
  call(name, parameters...);
  call("cuCtxPopCurrent_v2", &context);
}

void finish(MPI_Request request) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().under_way.find(request);
  if (found == state().under_way.end()) return;
  const Moved moved = std::move(found->second);
  state().under_way.erase(found);
  if (moved.to != nullptr && !is("loses"))
    copy(moved.to, "cuMemcpyHtoD_v2", reinterpret_cast<Address>(moved.to),
        static_cast<const void*>(moved.bytes.data()), moved.bytes.size());
}

}  // namespace

extern "C" {

int MPIX_Query_cuda_support() { return is("silent") ? 0 : 1; }

int MPI_Isend(const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
    MPI_Request* request) {
  const std::size_t bytes = device_bytes(from, count, type);
  if (bytes == 0) return PMPI_Isend(from, count, type, rank, tag, comm, request);
  if (is("fails")) return MPI_ERR_OTHER;
  std::vector<char> copied(bytes);
  copy(from, "cuMemcpyDtoH_v2", static_cast<void*>(copied.data()), reinterpret_cast<Address>(from),
      bytes);
  const int status =
      PMPI_Isend(copied.data(), static_cast<int>(bytes), MPI_BYTE, rank, tag, comm, request);
  const std::lock_guard lock(state().mutex);
  state().under_way[*request] = {nullptr, std::move(copied)};
  return status;
}
int MPI_Irecv(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
    MPI_Request* request) {
  const std::size_t bytes = device_bytes(to, count, type);
  if (bytes == 0) return PMPI_Irecv(to, count, type, rank, tag, comm, request);
  std::vector<char> copied(bytes);
  const int status =
      PMPI_Irecv(copied.data(), static_cast<int>(bytes), MPI_BYTE, rank, tag, comm, request);
  const std::lock_guard lock(state().mutex);
  state().under_way[*request] = {to, std::move(copied)};
  return status;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = PMPI_Test(request, done, status);
  if (*done != 0) finish(before);
  return code;
}
int MPI_Testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int code = PMPI_Testany(count, requests, index, done, status);
  if (*done != 0 && *index != MPI_UNDEFINED) finish(before[static_cast<std::size_t>(*index)]);
  return code;
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (*done != 0)
    for (MPI_Request each : before) finish(each);
  return code;
}

}  // extern "C"

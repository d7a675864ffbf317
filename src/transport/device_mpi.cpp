// Transport device_mpi: messages in device memory, for an MPI that moves it. What MPI says of
// itself is wrong in both directions (Open MPI #13130): messages are tried out (MessageTransport).
// `auto` asks first, so that programs over other MPIs try nothing.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "plan/device/driver.hpp"
#include "transport/factories.hpp"

// Null if MPI has none.
extern "C" {
[[gnu::weak]] int MPIX_Query_cuda_support();
[[gnu::weak]] int MPIX_Query_hip_support();   // MPICH
[[gnu::weak]] int MPIX_Query_rocm_support();  // Open MPI
}

namespace parhelion {

bool mpi_claims_devices() {
  const auto says = [](int (*query)()) { return query != nullptr && query() == 1; };
  return device::driver().is_hip ? says(MPIX_Query_hip_support) || says(MPIX_Query_rocm_support)
                                 : says(MPIX_Query_cuda_support);
}

std::shared_ptr<void> shield(std::byte* first, byte_count bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(first), end = begin + size;
  std::size_t mapped = 0, reserved = 0, reached = 0;  // bytes
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(
      std::fopen("/proc/self/maps", "r"), std::fclose);
  for (char line[512]; maps && std::fgets(line, sizeof line, maps.get()) != nullptr;) {
    std::uintptr_t low = 0, high = 0, file = 0;
    char access[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s %*s %*s %lu", &low, &high, access, &file) != 4) continue;
    low = std::max(low, begin), high = std::min(high, end);
    if (low >= high) continue;
    mapped += high - low;
    if (std::strcmp(access, "---p") == 0 && file == 0) reserved += high - low;
    if (std::strncmp(access, "rw", 2) == 0) reached += high - low;
  }
  constexpr int access = PROT_READ | PROT_WRITE,
                how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (reached == size) return nullptr;
  if (reserved == size && mprotect(first, size, access) == 0)
    return {first, [size](void* at) {
              madvise(at, size, MADV_DONTNEED);
              mprotect(at, size, PROT_NONE);
            }};
  if (maps && mapped == 0 && mmap(first, size, access, how, -1, 0) == first)
    return {first, [size](void* at) { munmap(at, size); }};
  throw Error(
      "transport device_mpi cannot shield memory of this device from an MPI that does not know "
      "devices, which would end the process: use mpi",
      ErrorKind::system);
}

std::unique_ptr<Transport> make_device_mpi(const TransportContext& context) {
  return make_message_transport(context, make_mpi_messenger, {.on_device = true});
}

}  // namespace parhelion

// The test hooks for the driver that PARHELION_CUDA names, with managed memory. They cannot inject
// failures or count calls.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "plan/device/driver.hpp"

using namespace parhelion::device;

namespace {

void* find(const char* name) {
  static void* const library = [] {
    const char* const file = std::getenv("PARHELION_CUDA");
    return dlopen(file != nullptr ? file : "libcuda.so.1", RTLD_NOW);
  }();
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) {
    const char* const why = dlerror();
    std::fprintf(stderr, "The driver of this machine: %s\n", why != nullptr ? why : name);
    std::exit(1);
  }
  return function;
}

template <class... Parameters>
int call(const char* name, Parameters... parameters) {
  return reinterpret_cast<int (*)(Parameters...)>(find(name))(parameters...);
}

Context primary() {
  static Context const context = [] {
    Context made = nullptr;
    if (call("cuInit", 0u) != success || call("cuDevicePrimaryCtxRetain", &made, 0) != success)
      std::fprintf(stderr, "The driver of this machine has no device 0\n"), std::exit(1);
    return made;
  }();
  return context;
}

}  // namespace

extern "C" {

int against_us_make_current() { return call("cuCtxPushCurrent_v2", primary()); }
int cuCtxPopCurrent_v2(Context* context) { return call("cuCtxPopCurrent_v2", context); }
int against_us_allocate(Address* memory, std::size_t bytes) {
  return call("cuMemAllocManaged", memory, bytes, 1u);
}
int cuMemFree_v2(Address memory) { return call("cuMemFree_v2", memory); }
int cuStreamCreate(Stream* stream, unsigned flags) { return call("cuStreamCreate", stream, flags); }
int cuStreamDestroy_v2(Stream stream) { return call("cuStreamDestroy_v2", stream); }
int cuStreamSynchronize(Stream stream) { return call("cuStreamSynchronize", stream); }
int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream stream) {
  return call("cuMemcpyDtoDAsync_v2", to, from, bytes, stream);
}
std::byte* against_us_seen(std::byte* memory) { return memory; }
void against_us_seed(std::uint64_t) {}
bool against_us_has_pools() { return true; }  // managed memory has no IPC handles either
// Number of the program's contexts.
std::size_t against_us_contexts() {
  Context now = nullptr;
  return call("cuCtxGetCurrent", &now) == success && now == primary() ? 1 : 0;
}
void against_us_capture(Stream stream, int on) {
  void* graph = nullptr;
  if (on != 0) call("cuStreamBeginCapture_v2", stream, 2);
  else if (call("cuStreamEndCapture", stream, &graph) == success) call("cuGraphDestroy", graph);
}

}  // extern "C"

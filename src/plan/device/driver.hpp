// The CUDA driver API or HIP, loaded at run time: builds need neither. Creates no context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace parhelion::device {

using Context = struct ContextOfDriver*;
using Stream = struct StreamOfDriver*;
using EventHandle = struct EventOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Address = unsigned long long;
struct IpcHandle {
  char bytes[64];
};

// Constants of cuda.h, the same in every driver version, and in HIP from 6.0 on.
enum Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  not_ready = 600,
};
enum : int {
  attribute_context = 1,
  attribute_memory_type = 2,
  attribute_buffer_id = 7,
  attribute_ordinal = 9,
};
enum : unsigned { type_host = 1 };
enum : int { attribute_unified_addressing = 41 };
enum : unsigned { event_without_timing = 2, stream_non_blocking = 1, host_memory_portable = 1 };
enum : unsigned { lazy_peer_access = 1 };

// Name, symbols of CUDA and HIP, parameters. HIP has other types with the same representation.
#define PARHELION_DRIVER_FUNCTIONS(X) \
  X(get_version, cuDriverGetVersion, hipRuntimeGetVersion, (int*)) \
  X(synchronize, cuCtxSynchronize, hipDeviceSynchronize, ()) \
  X(allocate, cuMemAlloc_v2, hipMalloc, (Address*, std::size_t)) \
  X(free_memory, cuMemFree_v2, hipFree, (Address)) \
  X(free_host, cuMemFreeHost, hipHostFree, (void*)) \
  X(get_range, cuMemGetAddressRange_v2, hipMemGetAddressRange, (Address*, std::size_t*, Address)) \
  X(get_handle, cuIpcGetMemHandle, hipIpcGetMemHandle, (IpcHandle*, Address)) \
  X(open_handle, cuIpcOpenMemHandle, hipIpcOpenMemHandle, (Address*, IpcHandle, unsigned)) \
  X(close_handle, cuIpcCloseMemHandle, hipIpcCloseMemHandle, (Address)) \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, \
      (Address, const void*, std::size_t, Stream)) \
  X(load_module, cuModuleLoadData, hipModuleLoadData, (Module*, const void*)) \
  X(unload_module, cuModuleUnload, hipModuleUnload, (Module)) \
  X(get_function, cuModuleGetFunction, hipModuleGetFunction, (Function*, Module, const char*)) \
  X(launch, cuLaunchKernel, hipModuleLaunchKernel, \
      (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
          void**, void**)) \
  X(create_stream, cuStreamCreate, hipStreamCreateWithFlags, (Stream*, unsigned)) \
  X(destroy_stream, cuStreamDestroy_v2, hipStreamDestroy, (Stream)) \
  X(synchronize_stream, cuStreamSynchronize, hipStreamSynchronize, (Stream)) \
  X(wait_event, cuStreamWaitEvent, hipStreamWaitEvent, (Stream, EventHandle, unsigned)) \
  X(is_capturing, cuStreamIsCapturing, hipStreamIsCapturing, (Stream, int*)) \
  X(create_event, cuEventCreate, hipEventCreateWithFlags, (EventHandle*, unsigned)) \
  X(destroy_event, cuEventDestroy_v2, hipEventDestroy, (EventHandle)) \
  X(record_event, cuEventRecord, hipEventRecord, (EventHandle, Stream))

// Those for which HIP has others (hip.cpp): it knows devices instead of contexts.
#define PARHELION_CUDA_FUNCTIONS(X) \
  X(get_error_name, cuGetErrorName, hipGetErrorName, (int, const char**)) \
  X(get_pointer_attribute, cuPointerGetAttribute, hipPointerGetAttribute, (void*, int, Address)) \
  X(get_device_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute, (int*, int, int)) \
  X(get_primary_state, cuDevicePrimaryCtxGetState, , (int, unsigned*, int*)) \
  X(retain_primary, cuDevicePrimaryCtxRetain, , (Context*, int)) \
  X(release_primary, cuDevicePrimaryCtxRelease_v2, , (int)) \
  X(push_context, cuCtxPushCurrent_v2, hipSetDevice, (Context)) \
  X(pop_context, cuCtxPopCurrent_v2, hipSetDevice, (Context*)) \
  X(get_context, cuCtxGetCurrent, hipGetDevice, (Context*)) \
  X(allocate_host, cuMemHostAlloc, hipHostMalloc, (void**, std::size_t, unsigned)) \
  X(context_of_stream, cuStreamGetCtx, hipStreamGetDevice, (Stream, Context*)) \
  X(query_event, cuEventQuery, hipEventQuery, (EventHandle))

struct Driver {
#define PARHELION_DECLARE(name, cuda, hip, parameters) int(*name) parameters;
  PARHELION_DRIVER_FUNCTIONS(PARHELION_DECLARE)
  PARHELION_CUDA_FUNCTIONS(PARHELION_DECLARE)
#undef PARHELION_DECLARE
  std::string file;  ///< for error messages
  bool is_hip = false;
};

struct Symbol {
  void* at;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(at);
  }
};
/// Sets the functions that differ in HIP, using those that `find` finds.
void take_hip(Driver& driver, const std::function<Symbol(const char*)>& find);

/// The driver loaded by the program (libcuda.so.1, or HIP's libamdhip64.so), or named by
/// PARHELION_CUDA or PARHELION_HIP; null if none was found yet. One atomic load.
const Driver* driver_in_use();
/// Searches again if none was found yet. Local.
const Driver* find_driver();
/// Throws Error with the reason if no driver is usable.
const Driver& driver();

/// Throws Error with the driver's name for it. `call`: CUDA's symbol, or its beginning.
void check(int status, const char* call);

/// Makes a context current for its lifetime.
class Current {
 public:
  explicit Current(Context context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

/// Releases resources with the context current; does nothing if the driver or the context is gone.
template <class Act>
void at_end(Context context, Act&& act) noexcept {
  if (driver().push_context(context) != success) return;
  act();
  driver().pop_context(&context);
}

/// Of an array. Null for memory without a context: of pools, or mapped by the program.
Context context_of(const void* array);
/// Memory of the context's device.
std::shared_ptr<std::byte> allocate(Context context, std::size_t bytes);

}  // namespace parhelion::device

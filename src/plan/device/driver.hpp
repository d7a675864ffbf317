// The CUDA driver API, loaded at run time: builds need no CUDA. Creates no context.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Constants of cuda.h, the same in every driver version.
enum Status : int {
  success = 0,
  invalid_value = 1,
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

// Name, symbol, parameters.
#define PARHELION_DRIVER_FUNCTIONS(X) \
  X(get_error_name, cuGetErrorName, (int, const char**)) \
  X(get_version, cuDriverGetVersion, (int*)) \
  X(get_pointer_attribute, cuPointerGetAttribute, (void*, int, Address)) \
  X(get_device_attribute, cuDeviceGetAttribute, (int*, int, int)) \
  X(get_primary_state, cuDevicePrimaryCtxGetState, (int, unsigned*, int*)) \
  X(retain_primary, cuDevicePrimaryCtxRetain, (Context*, int)) \
  X(release_primary, cuDevicePrimaryCtxRelease_v2, (int)) \
  X(push_context, cuCtxPushCurrent_v2, (Context)) \
  X(pop_context, cuCtxPopCurrent_v2, (Context*)) \
  X(get_context, cuCtxGetCurrent, (Context*)) \
  X(synchronize, cuCtxSynchronize, ()) \
  X(allocate, cuMemAlloc_v2, (Address*, std::size_t)) \
  X(free_memory, cuMemFree_v2, (Address)) \
  X(allocate_host, cuMemHostAlloc, (void**, std::size_t, unsigned)) \
  X(free_host, cuMemFreeHost, (void*)) \
  X(get_range, cuMemGetAddressRange_v2, (Address*, std::size_t*, Address)) \
  X(get_handle, cuIpcGetMemHandle, (IpcHandle*, Address)) \
  X(open_handle, cuIpcOpenMemHandle, (Address*, IpcHandle, unsigned)) \
  X(close_handle, cuIpcCloseMemHandle, (Address)) \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (Address, const void*, std::size_t, Stream)) \
  X(load_module, cuModuleLoadData, (Module*, const void*)) \
  X(unload_module, cuModuleUnload, (Module)) \
  X(get_function, cuModuleGetFunction, (Function*, Module, const char*)) \
  X(launch, cuLaunchKernel, \
      (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
          void**, void**)) \
  X(create_stream, cuStreamCreate, (Stream*, unsigned)) \
  X(destroy_stream, cuStreamDestroy_v2, (Stream)) \
  X(synchronize_stream, cuStreamSynchronize, (Stream)) \
  X(wait_event, cuStreamWaitEvent, (Stream, EventHandle, unsigned)) \
  X(is_capturing, cuStreamIsCapturing, (Stream, int*)) \
  X(context_of_stream, cuStreamGetCtx, (Stream, Context*)) \
  X(create_event, cuEventCreate, (EventHandle*, unsigned)) \
  X(destroy_event, cuEventDestroy_v2, (EventHandle)) \
  X(record_event, cuEventRecord, (EventHandle, Stream)) \
  X(query_event, cuEventQuery, (EventHandle))

struct Driver {
#define PARHELION_DECLARE(name, symbol, parameters) int(*name) parameters;
  PARHELION_DRIVER_FUNCTIONS(PARHELION_DECLARE)
#undef PARHELION_DECLARE
  std::string file;  ///< for error messages
};

/// The driver loaded by the program (libcuda.so.1), or named by PARHELION_CUDA; null if none was
/// found yet. One atomic load.
const Driver* driver_in_use();
/// Searches again if none was found yet. Local.
const Driver* find_driver();
/// Throws Error with the reason if no driver is usable.
const Driver& driver();

/// Throws Error with the driver's name for it.
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

}  // namespace parhelion::device

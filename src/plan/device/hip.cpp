// HIP where it differs from CUDA. A context stands for a device: its ordinal plus one.
#include "plan/device/driver.hpp"

namespace parhelion::device {
namespace {

struct Hip {
  const char* (*name_of)(int);
  int (*last_error)();
  int (*attribute)(void*, int, Address);
  int (*get_device)(int*);
  int (*set_device)(int);
  int (*allocate_host)(void**, std::size_t, unsigned);
  int (*device_of_stream)(Stream, int*);
  int (*query_event)(EventHandle);
};
Hip hip;

constexpr int no_device = 100;
constexpr unsigned coherent = 0x40000000;  // else the host may see values late

int context_of(int status, int ordinal, Context* context) {
  *context = reinterpret_cast<Context>(static_cast<std::uintptr_t>(ordinal) + 1);
  return status;
}

// Queries leave no error for the program's next hipGetLastError.
int forgotten(int status) {
  if (status != success) hip.last_error();
  return status == no_device ? +not_initialized : status;
}

int attribute_of(void* value, int attribute, Address address) {
  if (attribute != attribute_context) return forgotten(hip.attribute(value, attribute, address));
  int ordinal = -1;  // no context
  const int status = forgotten(hip.attribute(&ordinal, attribute_ordinal, address));
  return context_of(status, ordinal, static_cast<Context*>(value));
}

// The program's devices, under those of Current. Without a destructor: used during exit, too.
thread_local struct {
  int devices[16], count;
} outer;

int push(Context context) {
  int now = 0, status = hip.get_device(&now);
  if (status == success)
    status = hip.set_device(static_cast<int>(reinterpret_cast<std::uintptr_t>(context) - 1));
  if (status == success) outer.devices[outer.count++] = now;
  return status;
}

}  // namespace

void take_hip(Driver& driver, const std::function<Symbol(const char*)>& find) {
  hip.name_of = find("hipGetErrorName");
  hip.last_error = find("hipGetLastError");
  hip.attribute = find("hipPointerGetAttribute");
  hip.get_device = find("hipGetDevice");
  hip.set_device = find("hipSetDevice");
  hip.allocate_host = find("hipHostMalloc");
  hip.device_of_stream = find("hipStreamGetDevice");
  hip.query_event = find("hipEventQuery");
  driver.is_hip = true;
  driver.get_error_name = [](int status, const char** name) {
    *name = hip.name_of(status);
    return +success;
  };
  driver.get_pointer_attribute = attribute_of;
  driver.get_device_attribute = [](int* value, int, int) { return *value = 1, +success; };
  driver.get_primary_state = [](int, unsigned*, int* active) { return *active = 1, +success; };
  driver.release_primary = [](int) { return +success; };
  driver.retain_primary = [](Context* to, int ordinal) { return context_of(0, ordinal, to); };
  driver.push_context = push;
  driver.pop_context = [](Context*) { return hip.set_device(outer.devices[--outer.count]); };
  driver.get_context = [](Context* context) {
    int now = 0;
    const int status = hip.get_device(&now);
    return context_of(status, now, context);
  };
  driver.allocate_host = [](void** memory, std::size_t bytes, unsigned flags) {
    return hip.allocate_host(memory, bytes, flags | coherent);
  };
  driver.context_of_stream = [](Stream stream, Context* context) {
    int ordinal = 0;
    const int status = hip.device_of_stream(stream, &ordinal);
    return context_of(status, ordinal, context);
  };
  driver.query_event = [](EventHandle event) { return forgotten(hip.query_event(event)); };
}

}  // namespace parhelion::device

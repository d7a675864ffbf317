// The driver that is against us, as HIP: it knows devices instead of contexts, keeps the error of
// each thread's last failed call until it is asked for it, and wants code objects in a bundle.
#define HIP_AGAINST_US
#define REQUIRE_CONTEXT static_cast<void>(0)
namespace against_us {
constexpr int default_version = 60032830;
bool has_kernel(const char* bundle);
}  // namespace against_us

#include "against_us.cpp"

// Functions that take the same arguments.
#define ALIAS(name, cuda, hip, parameters) \
  extern "C" int hip parameters __attribute__((alias(#cuda)));
PARHELION_DRIVER_FUNCTIONS(ALIAS)

namespace against_us {

thread_local int last_error = success;

int noted(int status) {
  if (status != success) last_error = status;
  return status;
}

// As clang-offload-bundler writes it: for each device, a code object that has the kernel, on a
// page.
bool has_kernel(const char* bundle) {
  const std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
  if (std::memcmp(bundle, magic.data(), magic.size()) != 0) return false;
  const char* next = bundle + magic.size();
  const auto number = [&next] {
    std::uint64_t value = 0;
    std::memcpy(&value, std::exchange(next, next + sizeof value), sizeof value);
    return value;
  };
  std::set<std::string> found;
  for (std::uint64_t entries = number(); entries > 0; --entries) {
    const std::uint64_t at = number(), bytes = number(), length = number();
    const std::string name(std::exchange(next, next + length), length);
    const std::string_view object(bundle + at, bytes);
    if (name.starts_with("host-")) continue;
    if (at % page != 0 ||
        !object.starts_with("\x7f"
                            "ELF") ||
        object.find("parhelion_copy.kd") == std::string_view::npos)
      refuse("a code object in no order");
    found.insert(name);
  }
  const std::string wanted = "hipv4-amdgcn-amd-amdhsa--gfx";
  return found == std::set{wanted + "90a", wanted + "942"};
}

}  // namespace against_us

extern "C" const char* hipGetErrorName(int status) {
  return status == pretended_failure ? "hipErrorLaunchFailure" : "hipErrorOfThisDriver";
}
DRIVER_CALL(hipGetLastError) { return std::exchange(last_error, +success); }
DRIVER_CALL(against_us_last_error) { return last_error; }
DRIVER_CALL(hipGetDevice, int* device) {
  BEGIN_CALL;
  *device = machine().ordinal + device_now();
  return success;
}
// Sets the device all the same.
DRIVER_CALL(hipSetDevice, int ordinal) {
  const std::lock_guard lock(machine().mutex);
  const int device = device_from(ordinal);
  if (device == any_device) refuse("a device is set that there is not");
  hip_device = device;
  return fails(__func__) ? pretended_failure : +success;
}
// Without contexts, as before HIP 6.4.2, and with numbers of 32 bits.
DRIVER_CALL(hipPointerGetAttribute, void* value, int attribute, Address pointer) {
  if (attribute == attribute_context) return noted(invalid_value);
  if (attribute == attribute_memory_type) {  // unknown memory is an error, or is of no type
    static std::atomic<unsigned> calls = 0;
    const int status = cuPointerGetAttribute(value, attribute, pointer);
    if (status != invalid_value || calls++ % 2 == 0) return noted(status);
    std::memset(value, 0, sizeof(unsigned));
    return success;
  }
  if (attribute != attribute_buffer_id)
    return noted(cuPointerGetAttribute(value, attribute, pointer));
  Number number = 0;
  const int status = cuPointerGetAttribute(&number, attribute, pointer);
  std::memcpy(value, &number, sizeof(std::uint32_t));
  return noted(status);
}
DRIVER_CALL(hipHostMalloc, void** memory, std::size_t bytes, unsigned flags) {
  constexpr unsigned coherent = 0x40000000;
  if ((flags & coherent) == 0) refuse("the host may see this memory late");
  return noted(cuMemHostAlloc(memory, bytes, flags));
}
DRIVER_CALL(hipStreamGetDevice, Stream stream, int* device) {
  Context context = nullptr;
  const int status = cuStreamGetCtx(stream, &context);
  if (status == success) *device = machine().ordinal + context->device;
  return noted(status);
}
DRIVER_CALL(hipEventQuery, EventHandle event) { return noted(cuEventQuery(event)); }

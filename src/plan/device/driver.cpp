#include "plan/device/driver.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {
namespace device {
namespace {

struct Kind {
  const char *name, *variable;
  std::array<const char*, 3> files;
  int oldest, major, minor;  // and the weights of major and minor in a version
};
constexpr Kind cuda{"CUDA", "PARHELION_CUDA", {"libcuda.so.1"}, 11000, 1000, 10};
// HIP 6 numbers the kinds of memory as CUDA does, and knows gfx942.
constexpr Kind hip_kind{"HIP", "PARHELION_HIP",
    {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"}, 60000000, 10000000, 100000};

struct Found {
  std::mutex mutex;
  std::atomic<const Driver*> driver = nullptr;
  std::string why_not = "no driver of CUDA is in use by this program, and none of HIP";
};

Found& found() {
  static auto* const instance = new Found;  // executors use it during exit
  return *instance;
}

std::string text_of(const Kind& kind, int version) {
  return concat(kind.name, " ", version / kind.major, ".", version % kind.major / kind.minor);
}

// Null, with the reason, if a symbol is missing or the driver is too old.
const Driver* use(const Kind& kind, void* library, const std::string& file, std::string& why_not) {
  auto* const driver = new Driver{};  // never freed, like the library
  driver->file = file;
  std::string missing;
  const auto find = [&](const char* symbol) {
    void* const function = dlsym(library, symbol);
    if (function == nullptr && missing.empty()) missing = " has no " + std::string(symbol);
    return Symbol{function};
  };
  const bool is_hip = &kind == &hip_kind;
#define PARHELION_FIND(name, cuda, hip, parameters) driver->name = find(is_hip ? #hip : #cuda);
  PARHELION_DRIVER_FUNCTIONS(PARHELION_FIND)
  if (is_hip) {
    take_hip(*driver, find);
  } else {
    PARHELION_CUDA_FUNCTIONS(PARHELION_FIND)
  }
#undef PARHELION_FIND
  int version = 0;
  if (driver->get_version != nullptr &&
      (driver->get_version(&version) != success || version < kind.oldest))
    missing = " is of " + text_of(kind, version);
  why_not.clear();
  if (!missing.empty())
    why_not = concat(file, missing, ": a driver of ", text_of(kind, kind.oldest),
        " or newer is needed: update it, or use arrays in the host's memory");
  if (why_not.empty()) return driver;
  delete driver;
  return nullptr;
}

// Null, with the reason if one is named.
const Driver* search(const Kind& kind, std::string& why_not) {
  const std::string chosen = text_told(kind.variable);
  const bool named = !chosen.empty();
  if (chosen == "none") return nullptr;
  for (const char* each : kind.files) {
    if (named) each = chosen.c_str();
    if (each == nullptr) break;
    void* const library = dlopen(each, RTLD_NOW | RTLD_LOCAL | (named ? 0 : RTLD_NOLOAD));
    if (library != nullptr) return use(kind, library, each, why_not);
    if (named) return why_not = concat(dlerror(), " (", kind.variable, ")"), nullptr;
  }
  return nullptr;
}

}  // namespace

const Driver* driver_in_use() { return found().driver.load(std::memory_order_acquire); }

const Driver* find_driver() {
  if (const Driver* known = driver_in_use()) return known;
  const std::lock_guard lock(found().mutex);
  const Driver* driver = search(cuda, found().why_not);
  if (driver == nullptr) driver = search(hip_kind, found().why_not);
  found().driver.store(driver, std::memory_order_release);
  return driver;
}

const Driver& driver() {
  if (const Driver* known = find_driver()) return *known;
  const std::lock_guard lock(found().mutex);
  throw Error("arrays on a device cannot be exchanged: " + found().why_not, ErrorKind::system);
}

namespace {

// HIP's symbol for CUDA's, or for its beginning.
std::string name_of(std::string_view call) {
#define PARHELION_NAME(name, cuda, hip, parameters) \
  if (driver().is_hip && std::string_view(#cuda).starts_with(call)) return #hip;
  PARHELION_DRIVER_FUNCTIONS(PARHELION_NAME)
  PARHELION_CUDA_FUNCTIONS(PARHELION_NAME)
#undef PARHELION_NAME
  return std::string(call);
}

}  // namespace

void check(int status, const char* call) {
  if (status == success) return;
  const char* name = nullptr;
  if (driver().get_error_name(status, &name) != success || name == nullptr) name = "unknown";
  const char* remedy = "find its origin with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1";
  if (driver().is_hip) remedy = "find its origin with AMD_SERIALIZE_KERNEL=3";
  if (status == out_of_memory) remedy = "free memory of the device, or use more devices";
  throw Error(concat(name_of(call), " failed: ", name, " (error ", status, " of ", driver().file,
                  "): ", remedy),
      ErrorKind::system);
}

Current::Current(Context context) { check(driver().push_context(context), "cuCtxPushCurrent"); }
Current::~Current() {
  Context context = nullptr;
  driver().pop_context(&context);
}

Context context_of(const void* array) {
  Context context = nullptr;
  const auto address = reinterpret_cast<Address>(array);
  const int status = driver().get_pointer_attribute(&context, attribute_context, address);
  return status == success ? context : nullptr;
}

std::shared_ptr<std::byte> allocate(Context context, std::size_t bytes) {
  const Current current(context);
  Address first = 0;
  check(driver().allocate(&first, bytes), "cuMemAlloc");
  return {reinterpret_cast<std::byte*>(first), [context, first](std::byte*) {
            at_end(context, [&] {
              driver().synchronize();  // copies may be pending, also of a failed exchange
              driver().free_memory(first);
            });
          }};
}

}  // namespace device

int device_of(const void* pointer) {
  using namespace device;
  const Driver* const known = find_driver();
  if (known == nullptr || pointer == nullptr) return -1;
  const auto address = reinterpret_cast<Address>(pointer);
  unsigned type = type_host;
  int ordinal = -1;
  const int status = known->get_pointer_attribute(&type, attribute_memory_type, address);
  if (status == invalid_value || status == not_initialized || status == deinitialized) return -1;
  check(status, "cuPointerGetAttribute");
  if (type <= type_host) return -1;  // 0: unknown to HIP
  check(
      known->get_pointer_attribute(&ordinal, attribute_ordinal, address), "cuPointerGetAttribute");
  return ordinal;
}

}  // namespace parhelion

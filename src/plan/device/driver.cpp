#include "plan/device/driver.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "parhelion/core/error.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {
namespace device {
namespace {

constexpr const char* soname = "libcuda.so.1";
constexpr int oldest = 11000;  // CUDA 11 added cuDevicePrimaryCtxRelease_v2

struct Found {
  std::mutex mutex;
  std::atomic<const Driver*> driver = nullptr;
  std::string why_not = "no driver of CUDA is in use by this program";
};

Found& found() {
  static auto* const instance = new Found;  // executors use it during exit
  return *instance;
}

std::string text_of(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Null, with the reason, if a symbol is missing or the driver is too old.
const Driver* use(void* library, const std::string& file, std::string& why_not) {
  auto* const driver = new Driver{};  // never freed, like the library
  driver->file = file;
  std::string missing;
  const auto find = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = " has no " + std::string(symbol);
  };
#define PARHELION_FIND(name, symbol, parameters) find(driver->name, #symbol);
  PARHELION_DRIVER_FUNCTIONS(PARHELION_FIND)
#undef PARHELION_FIND
  int version = 0;
  if (driver->get_version != nullptr &&
      (driver->get_version(&version) != success || version < oldest))
    missing = " is of CUDA " + text_of(version);
  why_not.clear();
  if (!missing.empty())
    why_not = file + missing + ": a driver of CUDA " + text_of(oldest) +
              " or newer is needed: update it, or use arrays in the host's memory";
  if (why_not.empty()) return driver;
  delete driver;
  return nullptr;
}

}  // namespace

const Driver* driver_in_use() { return found().driver.load(std::memory_order_acquire); }

const Driver* find_driver() {
  if (const Driver* known = driver_in_use()) return known;
  const std::lock_guard lock(found().mutex);
  const char* chosen = std::getenv("PARHELION_CUDA");
  const bool named = chosen != nullptr && *chosen != '\0';
  if (named && std::strcmp(chosen, "none") == 0) return nullptr;
  const std::string file = named ? chosen : soname;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | (named ? 0 : RTLD_NOLOAD));
  if (library == nullptr) {
    if (named) found().why_not = std::string(dlerror()) + " (PARHELION_CUDA)";
    return nullptr;
  }
  const Driver* const driver = use(library, file, found().why_not);
  found().driver.store(driver, std::memory_order_release);
  return driver;
}

const Driver& driver() {
  if (const Driver* known = find_driver()) return *known;
  const std::lock_guard lock(found().mutex);
  throw Error("arrays on a device cannot be exchanged: " + found().why_not, ErrorKind::system);
}

void check(int status, const char* call) {
  if (status == success) return;
  const char* name = nullptr;
  if (driver().get_error_name(status, &name) != success || name == nullptr) name = "unknown";
  throw Error(std::string(call) + " failed: " + name + " (error " + std::to_string(status) +
                  " of " + driver().file +
                  "): find its origin with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1",
      ErrorKind::system);
}

Current::Current(Context context) { check(driver().push_context(context), "cuCtxPushCurrent"); }
Current::~Current() {
  Context context = nullptr;
  driver().pop_context(&context);
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
  if (type == type_host) return -1;
  check(
      known->get_pointer_attribute(&ordinal, attribute_ordinal, address), "cuPointerGetAttribute");
  return ordinal;
}

}  // namespace parhelion

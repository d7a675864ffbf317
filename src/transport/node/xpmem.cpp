// XPMEM: a kernel module and library to map another process's ordinary memory. Loads libxpmem.so.0,
// or PARHELION_XPMEM's file ("none": no library), on first use.

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "transport/node/peer_arrays.hpp"

#if __has_include(<xpmem.h>)
#include <xpmem.h>  // to check the declarations below
#endif

namespace parhelion {
namespace {

// XPMEM's interface, version 2.6 and later (xpmem.h).
struct Address {
  std::int64_t permit;
  off_t offset;
};
constexpr int read_and_write = 2;                    // XPMEM_RDWR
constexpr int permitted_by_mode = 1;                 // XPMEM_PERMIT_MODE
constexpr std::size_t all_memory = ~std::size_t{0};  // XPMEM_MAXADDR_SIZE
#ifdef XPMEM_RDWR
static_assert(sizeof(Address) == sizeof(xpmem_addr) && sizeof(xpmem_segid_t) == 8 &&
              sizeof(xpmem_apid_t) == 8);
static_assert(XPMEM_RDWR == read_and_write && XPMEM_PERMIT_MODE == permitted_by_mode);
#endif

struct Calls {
  int (*version)();
  std::int64_t (*make)(void* start, std::size_t bytes, int permit_type, void* permit);
  std::int64_t (*get)(std::int64_t segment, int flags, int permit_type, void* permit);
  int (*release)(std::int64_t permit);
  void* (*attach)(Address address, std::size_t bytes, void* wanted);
  int (*detach)(void* start);
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct Xpmem {
  Calls calls{};
  std::string missing;

  Xpmem() {
    void* library = open_library("PARHELION_XPMEM", {"libxpmem.so.0", "libxpmem.so"});
    if (library == nullptr)
      missing =
          "libxpmem.so.0 cannot be loaded: install XPMEM's library, or name it in "
          "PARHELION_XPMEM";
    else if (!find(library, "xpmem_version", calls.version) ||
             !find(library, "xpmem_make", calls.make) || !find(library, "xpmem_get", calls.get) ||
             !find(library, "xpmem_release", calls.release) ||
             !find(library, "xpmem_attach", calls.attach) ||
             !find(library, "xpmem_detach", calls.detach))
      missing = "the library that was loaded for XPMEM lacks its functions: see PARHELION_XPMEM";
    else if (calls.version() < 0)
      missing =
          "/dev/xpmem does not exist or cannot be opened: load the kernel module xpmem and permit "
          "reading and writing its device";
  }
};

const Xpmem& xpmem() {
  static const Xpmem instance;
  return instance;
}

const Xpmem& working_xpmem() {
  const Xpmem& found = xpmem();
  if (!found.missing.empty())
    throw Error("XPMEM does not work here: " + found.missing, ErrorKind::system);
  return found;
}

// Shares all memory; neighbors choose what to map.
std::int64_t share() {
  const std::int64_t segment = working_xpmem().calls.make(
      nullptr, all_memory, permitted_by_mode, reinterpret_cast<void*>(std::uintptr_t{0600}));
  if (segment == -1)
    throw Error(std::string("xpmem_make failed (") + std::strerror(errno) +
                    "): use transport staged_shared",
        ErrorKind::system);
  return segment;
}

[[noreturn]] void fail(const char* call, std::int64_t segment) {
  throw Error(concat(std::string(call), " of segment ", segment, " failed (", std::strerror(errno),
                  "): both processes must be of one user; use transport staged_shared"),
      ErrorKind::system);
}

std::int64_t segment_of_process() {
  static const std::int64_t segment = share();
  return segment;
}

std::shared_ptr<std::byte> attach(std::int64_t segment, std::uintptr_t address, std::size_t bytes) {
  const Calls& calls = working_xpmem().calls;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t start = address / page * page,
                       size = (address + bytes + page - 1) / page * page - start;
  const std::int64_t permit = calls.get(segment, read_and_write, permitted_by_mode, nullptr);
  if (permit == -1) fail("xpmem_get", segment);
  void* const mapped = calls.attach({permit, static_cast<off_t>(start)}, size, nullptr);
  if (mapped == reinterpret_cast<void*>(-1)) {
    const int reason = errno;
    calls.release(permit);
    errno = reason;
    fail("xpmem_attach", segment);
  }
  std::shared_ptr<std::byte> keep(
      static_cast<std::byte*>(mapped), [&calls, permit](std::byte* there) {
        calls.detach(there);
        calls.release(permit);
      });
  return {keep, keep.get() + (address - start)};
}

class XpmemAccess final : public ArrayAccess {
 public:
  std::string refusal(const Plan&) const override { return {}; }

  std::optional<BlockPlace> describe(const ArrayBlock& block) const override {
    return BlockPlace{{segment_of_process(), reinterpret_cast<std::int64_t>(block.begin), 0,
                          block.end - block.begin},
        block.first - block.begin};
  }

  std::shared_ptr<std::byte> map(const BlockPlace& place) const override {
    const auto& words = place.memory;
    return attach(
        words[0], static_cast<std::uintptr_t>(words[1]), static_cast<std::size_t>(words[3]));
  }
};

}  // namespace

std::string xpmem_unavailable() { return xpmem().missing; }

std::shared_ptr<const ArrayAccess> xpmem_access() { return std::make_shared<XpmemAccess>(); }

}  // namespace parhelion

#include "parhelion/core/node_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "core/concat.hpp"
#include "core/populate.hpp"
#include "core/resources.hpp"

namespace parhelion {
namespace {

constexpr const char* remedy =
    "free memory on this node, use more nodes, or raise the container's limit";

[[noreturn]] void fail(const std::string& what, byte_count bytes, const std::string& how) {
  throw Error(concat(what, " for ", bytes, " bytes of node-shared memory failed (",
                  std::strerror(errno), "): ", how),
      ErrorKind::system);
}

// A memfd and its mapping; pages are allocated range by range.
class Segment {
 public:
  explicit Segment(byte_count bytes) : size_(bytes) {
    descriptor_ = memfd_create("parhelion", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor_ < 0)
      fail("memfd_create", bytes,
          "raise the limit of open files (ulimit -n), or use ordinary memory");
    try {
      reserve();
      struct stat status{};
      fstat(descriptor_, &status);
      identity_ = static_cast<std::uint64_t>(status.st_ino);
    } catch (...) {
      close(descriptor_);
      throw;
    }
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() {
    munmap(start_, size_);
    close(descriptor_);
  }
  std::byte* start() const { return start_; }
  byte_count size() const { return size_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t identity() const { return identity_; }

  // Allocates the pages now: a lack of memory is an error here, a signal later.
  void take(byte_count first, byte_count bytes) const {
    if (!take_pages(first, first + bytes)) fail("fallocate", bytes, remedy);
    map_pages_now(start_ + first, bytes);
  }

 private:
  void reserve() {
    fchmod(descriptor_, S_IRUSR | S_IWUSR);
    if (ftruncate(descriptor_, size_) != 0) fail("ftruncate", size_, remedy);
    fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) fail("mmap", size_, remedy);
    start_ = static_cast<std::byte*>(memory);
    madvise(memory, size_,
        MADV_HUGEPAGE);  // optional
  }

  // In chunks: a signal undoes a whole fallocate; a profiler's timer could do so forever.
  bool take_pages(byte_count first, byte_count end) const {
    constexpr byte_count piece = 2 << 20;
    for (; first < end; first += piece)
      while (fallocate(descriptor_, 0, first, std::min(piece, end - first)) != 0) {
        if (errno == EOPNOTSUPP) return true;
        if (errno != EINTR) return false;
      }
    return true;
  }

  byte_count size_;
  int descriptor_ = -1;
  std::byte* start_ = nullptr;
  std::uint64_t identity_ = 0;
};

// One allocation's pages, alive as long as their segment: neighbors use them until they unmap it.
struct Range {
  std::shared_ptr<const Segment> segment;
  byte_count first, size;
  std::byte* start() const { return segment->start() + first; }
};

struct Registry {
  std::mutex mutex;
  std::atomic<std::uint64_t> returns{0};
  std::map<const std::byte*, std::weak_ptr<Range>> ranges;
  // The last segment and its bytes in use: small ranges share segments, as each costs a descriptor.
  std::weak_ptr<const Segment> shared;
  byte_count used = 0;
  pid_t process = 0;  // a forked process starts its own segment
};

Registry& registry() {
  static auto* instance = new Registry;  // never freed: arrays may be destroyed during exit
  return *instance;
}

// With overcommitted memory, allocating too much makes the kernel kill a process.
void require_available(byte_count bytes) {
  constexpr byte_count small = 16 << 20;
  if (bytes <= small) return;
  const byte_count available = available_memory();
  if (bytes > available)
    throw Error(concat("cannot take ", bytes, " bytes of node-shared memory: ", available,
                    " bytes are available on this node: ", remedy),
        ErrorKind::system);
}

Range take_range(byte_count bytes) {
  constexpr byte_count shared_size = 1 << 20, largest_sharer = shared_size / 16;
  if (bytes > largest_sharer) {
    const auto own = std::make_shared<const Segment>(bytes);
    own->take(0, bytes);
    return {own, 0, bytes};
  }
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto segment = all.shared.lock();
  if (!segment || all.process != getpid() || all.used + bytes > shared_size) {
    segment = std::make_shared<const Segment>(shared_size);
    all.shared = segment, all.used = 0, all.process = getpid();
  }
  segment->take(all.used, bytes);
  all.used += bytes;
  return {segment, all.used - bytes, bytes};
}

std::shared_ptr<Range> make_range(byte_count bytes) {
  const auto page = static_cast<byte_count>(sysconf(_SC_PAGESIZE));
  std::shared_ptr<Range> range(
      new Range(take_range((bytes + page - 1) / page * page)), [](Range* dying) {
        {
          const std::lock_guard lock(registry().mutex);
          registry().ranges.erase(dying->start());
          registry().returns.fetch_add(1, std::memory_order_release);
        }
        delete dying;
        const std::lock_guard lock(registry().mutex);
        if (registry().shared.expired()) registry().shared.reset();  // frees the control block
      });
  const std::lock_guard lock(registry().mutex);
  registry().ranges[range->start()] = range;
  return range;
}

// Offsets successive arrays by some cache lines: page-aligned ones share cache sets and look alike
// to the store buffer, which compares 12 address bits.
byte_count next_color() {
  static std::atomic<unsigned> count{0};
  return (count.fetch_add(1, std::memory_order_relaxed) % 12) * 5 * 64;
}

}  // namespace

std::shared_ptr<std::byte> allocate_node_shared(byte_count bytes) {
  if (bytes < 0) refuse("cannot allocate ", bytes, " bytes: sizes are 0 or more");
  require_available(bytes);
  const byte_count color = next_color();
  auto range = make_range(bytes + color + 64);
  std::byte* start = range->start() + color;
  return {std::move(range), start};
}

std::uint64_t node_shared_returns() { return registry().returns.load(std::memory_order_acquire); }

std::optional<SharedPlace> find_node_shared(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  std::shared_ptr<Range> range;  // destroyed after the lock: its deleter locks too
  const std::lock_guard lock(registry().mutex);
  auto after = registry().ranges.upper_bound(at);
  if (after == registry().ranges.begin()) return {};
  range = std::prev(after)->second.lock();
  if (!range || at >= range->start() + range->size) return {};
  const Segment& in = *range->segment;
  return SharedPlace{range, in.descriptor(), in.identity(), in.size(), at - in.start()};
}

}  // namespace parhelion

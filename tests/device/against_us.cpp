// An adversarial CUDA driver. Only its own copies can touch device memory. Operations run only when
// a call queries their stream, in a random order that respects the declared dependencies.
//
// Exits with a message if two operations touch the same bytes without a declared order, if one
// touches missing memory or that of another device, or if memory is freed while an operation or a
// process that opened it still uses it. Streams that are destroyed complete their operations later.
// Handles name whole allocations; the next allocation at an address reuses its handle. Any call can
// be made to fail: calls that wait or free do so all the same, and report an earlier error.
//
// against_us_hip.cpp is the same driver as HIP.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "plan/device/driver.hpp"
namespace against_us {
const std::byte* seen(const std::byte* address);
}
#define PARHELION_LIST(type, address) \
  reinterpret_cast<const type*>(against_us::seen(reinterpret_cast<const std::byte*>(address)))
#include "plan/device/item.hpp"

namespace against_us {

using namespace parhelion::device;
using Number = std::uint64_t;
using Clock = std::map<int, Number>;  // vector clock: per stream, the last preceding operation

constexpr int no_memory = 2, invalid_device = 101, invalid_context = 201, map_failed = 205,
              invalid_handle = 400, capturing = 900, isolated = 905, captures_implicitly = 906;
constexpr int devices = 2, any_device = -1;
constexpr int pretended_failure = 719;
#ifndef HIP_AGAINST_US
constexpr int default_version = 12040;
#endif
constexpr unsigned most_blocks_x = 0x7fffffff, most_threads = 1024;

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "The driver that is against us: %s\n", what);
  std::fflush(stderr);
  std::abort();
}

struct Range {
  std::uintptr_t first, end;
};
using Ranges = std::vector<Range>;

// Sorts and merges ranges. If `apart`, overlapping ranges abort.
Ranges joined(Ranges all, bool apart) {
  std::sort(all.begin(), all.end(), [](Range a, Range b) { return a.first < b.first; });
  Ranges result;
  for (const Range& each : all) {
    if (result.empty() || result.back().end < each.first) {
      result.push_back(each);
      continue;
    }
    if (apart && each.first < result.back().end)
      refuse("two items of a launch write the same byte");
    result.back().end = std::max(result.back().end, each.end);
  }
  return result;
}

bool meet(const Ranges& a, const Ranges& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first < b[j].end && b[j].first < a[i].end) return true;
    a[i].end < b[j].end ? ++i : ++j;
  }
  return false;
}

constexpr std::size_t page = 4096;
std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

// Stored after shared memory: per byte, the numbers of readers and writers that are not known to
// have completed.
struct Shared {
  struct Head {
    std::atomic<bool> freed;
    std::size_t bytes;
  };
  using Counts = std::atomic<std::uint16_t>[2];
  static std::size_t size(std::size_t pages) { return pages * (1 + sizeof(Counts)) + page; }

  Shared(int descriptor, std::size_t pages)
      : size_(size(pages) - pages), own(pages),
        head(static_cast<Head*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
            static_cast<off_t>(pages)))),
        all(reinterpret_cast<Counts*>(reinterpret_cast<std::byte*>(head) + page)) {
    if (head == MAP_FAILED) refuse("memory cannot be shared");
  }
  ~Shared() { munmap(head, size_); }

 private:
  std::size_t size_;

 public:
  std::vector<std::array<std::uint16_t, 2>> own;
  Head* head;
  Counts* all;
};

struct Memory {
  std::uintptr_t first;
  std::byte* seen;
  std::size_t bytes, pages;
  bool on_device, of_pool, of_other;
  int device;            // any_device: the host's, or managed
  int descriptor;        // of device memory
  std::uint64_t number;  // of the allocation, or of the file for memory of another process
  std::shared_ptr<Shared> shared;
};

// An operation on a stream; `run` performs a part of it and returns whether it is complete.
struct Work {
  Number number;
  std::function<bool()> run;
  std::function<bool()> may_run = [] { return true; };
  Ranges reads, writes;
  std::vector<std::function<void()>> when_seen = {};
  Module module = nullptr;  // of the kernel
};

}  // namespace against_us

namespace parhelion::device {  // the types behind the driver's handles

using namespace against_us;

struct StreamOfDriver {
  int name = 0, device = 0;
  bool blocks = true;  // with the legacy default stream
  Number last = 0, done = 0;
  Clock before;  // of the next operation
  std::deque<std::shared_ptr<Work>> waiting;
  std::deque<std::shared_ptr<Work>> unseen;  // completion not known to the host
  int captured = 0;                          // 2: relaxed, other streams may be queried
  bool destroyed = false;
};
struct EventOfDriver {
  int device = 0;
  std::shared_ptr<StreamOfDriver> stream;  // null: never recorded
  Number number = 0;
  Clock before;
};
struct ContextOfDriver {
  int device = 0;
};
struct FunctionOfDriver {
  int device = 0;
};
struct ModuleOfDriver {
  FunctionOfDriver copy;
};

}  // namespace parhelion::device

namespace against_us {

struct Machine {
  std::mutex mutex;
  std::mt19937_64 random{1};
  std::map<std::uintptr_t, Memory> memory;
  std::multimap<std::size_t, Memory> freed;  // addresses and descriptors for reuse
  std::map<Stream, std::shared_ptr<StreamOfDriver>> streams;
  std::shared_ptr<StreamOfDriver> defaults[devices][2];  // legacy, of the thread
  std::vector<std::shared_ptr<StreamOfDriver>> all;      // also destroyed ones with operations
  std::set<EventHandle> events;
  std::set<Module> modules;
  int named = 0, chosen = 0, primary[devices] = {};
  std::uint64_t allocations = 0;
  long long allocations_until_exhausted = -1;
  const char* failed = "";
  std::size_t forgiven = 0, uploaded = 0;
  Clock seen_by_host;
  Number launches = 0;
  long long calls_until_failure = -1;
  ContextOfDriver contexts[devices] = {{0}, {1}};
  bool is_gone = false;  // the context that a push failed for
  bool pools_alone = false;
  bool is_lazy = false;  // slow while other processes wait for its operations
  bool has_pools = std::getenv("AGAINST_US_POOLS") == nullptr;
  const int ordinal = static_cast<int>(getpid() % 3);  // of the first; differs between processes
};

Machine& machine() {
  static auto* const instance = new Machine;
  return *instance;
}
thread_local std::vector<Context> current;
// The device of this thread; of HIP, since the program's last choice: −1: none.
thread_local int hip_device = -1;
int device_now() {
  return hip_device >= 0 ? hip_device : current.empty() ? 0 : current.back()->device;
}

long long between(long long low, long long high) {
  return low +
         static_cast<long long>(machine().random() % static_cast<std::uint64_t>(high - low + 1));
}

void join(Clock& into, const Clock& from) {
  for (const auto& [name, number] : from) into[name] = std::max(into[name], number);
}

const Memory* memory_at(std::uintptr_t address) {
  auto next = machine().memory.upper_bound(address);
  if (next == machine().memory.begin()) return nullptr;
  const Memory& found = std::prev(next)->second;
  return address < found.first + found.bytes ? &found : nullptr;
}

// Address at which this driver can access the memory.
template <class T>
T* seen(T* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const Memory* const memory = memory_at(number);
  return memory == nullptr ? address
                           : reinterpret_cast<T*>(memory->seen + (number - memory->first));
}
const std::byte* seen(const std::byte* address) { return seen<const std::byte>(address); }

void require_there(const Ranges& ranges, int device) {
  for (const Range& each : ranges) {
    const Memory* const memory = memory_at(each.first);
    if (memory == nullptr || each.end > memory->first + memory->bytes)
      refuse("an operation touches memory that the device does not have");
    if (memory->device != any_device && memory->device != device)
      refuse("an operation touches memory of another device");
  }
}

// Counts the operations of this process that others do not know to be complete.
void count(Shared& shared, Range offsets, int write, int more) {
  for (std::size_t i = offsets.first; i < offsets.end; ++i) {
    shared.all[i][write] += static_cast<std::uint16_t>(more);
    shared.own[i][static_cast<std::size_t>(write)] += static_cast<std::uint16_t>(more);
  }
}
bool others_have(const Shared& shared, Range offsets, int write) {
  for (std::size_t i = offsets.first; i < offsets.end; ++i)
    if (shared.all[i][write] != shared.own[i][static_cast<std::size_t>(write)]) return true;
  return false;
}

void count_shared(Work& work) {
  for (const int write : {0, 1})
    for (const Range& each : write != 0 ? work.writes : work.reads) {
      const Memory& memory = *memory_at(each.first);
      if (!memory.shared) continue;
      if (memory.shared->head->freed) refuse("an operation touches memory that was freed");
      const Range offsets{each.first - memory.first, each.end - memory.first};
      count(*memory.shared, offsets, write, 1);
      if (others_have(*memory.shared, offsets, 1) ||
          (write != 0 && others_have(*memory.shared, offsets, 0)))
        refuse("operations of two processes in no order touch the same bytes");
      work.when_seen.emplace_back(
          [shared = memory.shared, offsets, write] { count(*shared, offsets, write, -1); });
    }
}

std::shared_ptr<StreamOfDriver> made_stream(bool blocks) {
  auto stream = std::make_shared<StreamOfDriver>();
  stream->name = ++machine().named;
  stream->device = device_now();
  stream->blocks = blocks;
  return machine().all.emplace_back(std::move(stream));
}

std::shared_ptr<StreamOfDriver> stream_of(Stream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 2) {
    auto& known = machine().defaults[device_now()][number / 2];
    return known ? known : known = made_stream(true);
  }
  const auto found = machine().streams.find(handle);
  if (found == machine().streams.end()) refuse("a stream is used that there is not");
  return found->second;
}

void require_event(EventHandle event) {
  if (!machine().events.contains(event)) refuse("an event is used that there is not");
}

bool captures(int device, bool relaxed = true) {
  return std::ranges::any_of(machine().all, [=](const auto& stream) {
    return stream->device == device &&
           (stream->captured == 1 || (relaxed && stream->captured == 2));
  });
}

void put(const std::shared_ptr<StreamOfDriver>& stream, std::shared_ptr<Work> work) {
  require_there(work->reads, stream->device);
  require_there(work->writes, stream->device);
  join(stream->before, machine().seen_by_host);
  for (const auto& other : machine().all) {
    if (other == stream) continue;
    const Number known = stream->before[other->name];
    for (const auto& each : other->unseen)
      if (each->number > known &&
          (meet(each->writes, work->writes) || meet(each->writes, work->reads) ||
              meet(each->reads, work->writes)))
        refuse("two operations in no order touch the same bytes");
  }
  count_shared(*work);
  work->number = ++stream->last;
  stream->waiting.push_back(work);
  stream->unseen.push_back(std::move(work));
}

// On a stream of the current context; work of a captured stream would not run.
int put_now(Stream handle, std::shared_ptr<Work> work) {
  const auto stream = stream_of(handle);
  if (stream->device != device_now()) return invalid_handle;
  if (stream->captured) return capturing;
  put(stream, std::move(work));
  return success;
}

// Runs a part of one ready operation; false if none is ready.
bool step() {
  std::vector<StreamOfDriver*> ready;
  for (const auto& stream : machine().all)
    if (!stream->waiting.empty() && stream->waiting.front()->may_run())
      ready.push_back(stream.get());
  if (ready.empty()) return false;
  StreamOfDriver& stream = *ready[machine().random() % ready.size()];
  if (!stream.waiting.front()->run()) return true;
  stream.done = stream.waiting.front()->number;
  stream.waiting.pop_front();
  return true;
}

void some_steps() {
  for (long long some = between(machine().is_lazy ? -30 : 0, 6); some > 0; --some) step();
}

// Records that the host knows these operations to be complete.
void see(const Clock& done) {
  join(machine().seen_by_host, done);
  for (const auto& stream : machine().all)
    while (!stream->unseen.empty() &&
           stream->unseen.front()->number <= machine().seen_by_host[stream->name]) {
      for (const auto& act : stream->unseen.front()->when_seen) act();
      stream->unseen.pop_front();
    }
  std::erase_if(machine().all, [](const auto& stream) {
    if (!stream->destroyed || !stream->unseen.empty()) return false;
    machine().seen_by_host.erase(stream->name);
    for (const auto& other : machine().all) other->before.erase(stream->name);
    return true;
  });
}

void wait(const std::shared_ptr<StreamOfDriver>& stream) {
  while (!stream->waiting.empty())
    if (!step()) refuse("a stream waits for what never comes");
  Clock done = stream->before;
  done[stream->name] = stream->last;
  see(done);
}

// Runs the items of a launch in a pseudo-random order.
std::shared_ptr<Work> work_of(const Launch& launch) {
  auto work = std::make_shared<Work>();
  Launch there = launch;
  there.table = seen(launch.table);
  Ranges reads, writes;
  for (long long item = 0; item < launch.items; ++item) {
    const Place at = place_of(there, item);
    const auto src = reinterpret_cast<std::uintptr_t>(at.src),
               dst = reinterpret_cast<std::uintptr_t>(at.dst);
    reads.push_back({src, src + static_cast<std::size_t>(at.bytes)});
    writes.push_back({dst, dst + static_cast<std::size_t>(at.bytes)});
  }
  work->reads = joined(std::move(reads), false);
  work->writes = joined(std::move(writes), true);
  if (meet(work->reads, work->writes)) refuse("a launch reads what it writes");
  for (char*& base : there.base) base = seen(base);
  const long long items = launch.items;
  long long stride = between(1, 1000);
  while (std::gcd(stride, items) != 1) ++stride;
  work->run = [there, items, stride, next = 0LL]() mutable {
    for (long long some = between(1, 2000); some > 0 && next < items; --some)
      run_item(there, next++ * stride % items);
    return next == items;
  };
  return work;
}

std::shared_ptr<Work> work_on(Ranges reads, Ranges writes, std::function<void()> act) {
  auto work = std::make_shared<Work>();
  work->reads = std::move(reads), work->writes = std::move(writes);
  work->run = [act = std::move(act)] {
    act();
    return true;
  };
  return work;
}

Range range(const void* first, std::size_t bytes) {
  const auto number = reinterpret_cast<std::uintptr_t>(first);
  return {number, number + bytes};
}

// Maps memory at the driver's address; at the device's, the host has a place without memory.
bool map(Memory& memory, std::size_t pages, bool on_device) {
  const auto map_at = [&](std::uintptr_t place, int access, int how) {
    return mmap(reinterpret_cast<void*>(place), pages, access, how | (place != 0 ? MAP_FIXED : 0),
        memory.descriptor, 0);
  };
  void* const there = map_at(0, PROT_READ | PROT_WRITE, MAP_SHARED);
  void* first = there;
  if (on_device) {
    const int file = std::exchange(memory.descriptor, -1);
    first = map_at(memory.first, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    memory.descriptor = file;
  }
  memory.first = reinterpret_cast<std::uintptr_t>(first);
  memory.seen = static_cast<std::byte*>(there);
  memory.pages = pages;
  memory.on_device = on_device;
  return there != MAP_FAILED && first != MAP_FAILED;
}

void require_unused(const Memory& memory, const char* what) {
  const Ranges all{{memory.first, memory.first + memory.bytes}};
  for (const auto& stream : machine().all)
    for (const auto& each : stream->unseen)
      if (meet(each->reads, all) || meet(each->writes, all)) refuse(what);
}

int allocate(std::size_t bytes, bool on_device, std::uintptr_t& first) {
  if (bytes == 0) return invalid_value;
  Machine& of = machine();
  if (captures(device_now(), false)) return capturing;
  if (of.allocations_until_exhausted >= 0 && of.allocations_until_exhausted-- == 0)
    return no_memory;
  const std::size_t pages = whole_pages(bytes);
  Memory memory{};
  auto old = on_device ? of.freed.upper_bound(pages) : of.freed.begin();
  // Reuses the memory freed last: same addresses, same file number.
  const bool again = old != of.freed.begin() && (--old)->first == pages;
  if (again) memory = of.freed.extract(old).mapped();
  if (memory.seen == nullptr) {
    const int descriptor = memfd_create("against_us", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(Shared::size(pages))) != 0)
      return no_memory;
    const int before = std::exchange(memory.descriptor, descriptor);
    if (again) {
      memory.descriptor = dup3(descriptor, before, O_CLOEXEC);
      close(descriptor);
    }
    if (!map(memory, pages, on_device)) return no_memory;
    if (!on_device) close(memory.descriptor);
  }
  memory.of_pool = false;
  memory.device = on_device ? device_now() : any_device;
  memory.bytes = bytes;
  memory.number = ++of.allocations;
  std::memset(memory.seen, 0x5A, bytes);
  of.memory[memory.first] = memory;
  first = memory.first;
  return success;
}

void free_memory(std::uintptr_t first, bool on_device) {
  const auto found = machine().memory.find(first);
  if (found == machine().memory.end() || found->second.on_device != on_device ||
      found->second.of_other)
    refuse("memory is freed that there is not");
  Memory& memory = found->second;
  require_unused(memory, "memory is freed that an operation may still use");
  if (memory.shared) {
    if (others_have(*memory.shared, {0, memory.bytes}, 0) ||
        others_have(*memory.shared, {0, memory.bytes}, 1))
      refuse("memory is freed that an operation of another process may still use");
    memory.shared->head->freed = true;
  }
  if (memory.shared || memory.descriptor < 0 ||
      !on_device) {  // another process may still map it: the next allocation uses a new file
    munmap(memory.seen, memory.pages);
    memory.seen = nullptr;
    memory.shared = nullptr;
  }
  if (on_device && memory.descriptor >= 0) machine().freed.emplace(memory.pages, memory);
  machine().memory.erase(found);
}

bool fails(const char* call) {
  long long& left = machine().calls_until_failure;
  if (left < 0 || left-- != 0) return false;
  machine().failed = call;
  return true;
}

}  // namespace against_us

using namespace against_us;

#define DRIVER_CALL(name, ...) extern "C" int name(__VA_ARGS__)
#define BEGIN_CALL \
  const std::lock_guard lock(machine().mutex); \
  if (fails(__func__)) return pretended_failure
#ifndef REQUIRE_CONTEXT
#define REQUIRE_CONTEXT \
  if (current.empty() || current.back() == nullptr) return invalid_context
#endif
#define BEGIN_CALL_IN_CONTEXT \
  BEGIN_CALL; \
  REQUIRE_CONTEXT
// Of a call that does its work and then reports an earlier error.
#define BEGIN_REPORTING_CALL \
  const std::lock_guard lock(machine().mutex); \
  REQUIRE_CONTEXT; \
  const int reported = fails(__func__) ? pretended_failure : +success

#ifndef HIP_AGAINST_US
bool has_kernel(const char* text) { return std::strstr(text, ".entry parhelion_copy(") != nullptr; }
#endif

DRIVER_CALL(cuGetErrorName, int status, const char** name) {
  *name = status == pretended_failure ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OF_THIS_DRIVER";
  return success;
}
DRIVER_CALL(cuDriverGetVersion, int* version) {
  const char* const told = std::getenv("AGAINST_US_VERSION");
  *version = told != nullptr ? std::atoi(told) : default_version;
  return success;
}
DRIVER_CALL(cuInit, unsigned) {
  BEGIN_CALL;
  return success;
}
DRIVER_CALL(cuDeviceGet, int* device, int) {
  BEGIN_CALL;
  *device = 0;
  return success;
}
DRIVER_CALL(cuDeviceGetCount, int* count) {
  BEGIN_CALL;
  *count = 1;
  return success;
}
DRIVER_CALL(cuDeviceGetName, char* name, int length, int) {
  BEGIN_CALL;
  std::snprintf(name, static_cast<std::size_t>(length), "device against us");
  return success;
}
DRIVER_CALL(cuPointerGetAttribute, void* value, int attribute, Address pointer) {
  BEGIN_CALL;
  const Memory* const memory = memory_at(pointer);
  if (memory == nullptr) return invalid_value;
  if (attribute == attribute_memory_type)
    *static_cast<unsigned*>(value) = memory->on_device ? 2U : +type_host;
  else if (attribute == attribute_ordinal)
    *static_cast<int*>(value) = machine().ordinal + std::max(memory->device, 0);
  else if (attribute == attribute_context)
    *static_cast<Context*>(value) =
        memory->of_pool ? nullptr : &machine().contexts[std::max(memory->device, 0)];
  else if (attribute == attribute_buffer_id) *static_cast<Number*>(value) = memory->number;
  else return invalid_value;
  return success;
}
DRIVER_CALL(cuDeviceGetAttribute, int* value, int attribute, int) {
  BEGIN_CALL;
  *value = attribute == attribute_unified_addressing;
  return success;
}
DRIVER_CALL(cuDevicePrimaryCtxGetState, int, unsigned* flags, int* active) {
  BEGIN_CALL;
  *flags = 0, *active = 1;
  return success;
}
// Device 0 is what cuDeviceGet gives, beside this process's own numbers.
int device_from(int ordinal) {
  const int device = ordinal - machine().ordinal;
  return device >= 0 && device < devices ? device : ordinal == 0 ? 0 : any_device;
}
DRIVER_CALL(cuDevicePrimaryCtxRetain, Context* context, int ordinal) {
  BEGIN_CALL;
  const int device = device_from(ordinal);
  if (device == any_device) return invalid_device;
  ++machine().primary[device];
  *context = &machine().contexts[device];
  return success;
}
DRIVER_CALL(cuDevicePrimaryCtxRelease_v2, int ordinal) {
  const std::lock_guard lock(machine().mutex);
  const int device = device_from(ordinal);
  if (device == any_device || machine().primary[device]-- == 0)
    refuse("a context is released that nobody has");
  return fails(__func__) ? pretended_failure : +success;
}
DRIVER_CALL(cuCtxPushCurrent_v2, Context context) {
  const std::lock_guard lock(machine().mutex);
  machine().is_gone = machine().is_gone || fails(__func__);
  if (machine().is_gone) return pretended_failure;
  if (context < machine().contexts || context >= machine().contexts + devices)
    return invalid_context;
  current.push_back(context);
  return success;
}
DRIVER_CALL(cuCtxPopCurrent_v2, Context* context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  current.pop_back();
  hip_device = -1;
  return success;
}
DRIVER_CALL(cuCtxGetCurrent, Context* context) {
  BEGIN_CALL;
  *context = current.empty() ? nullptr : current.back();
  return success;
}
DRIVER_CALL(cuCtxSynchronize) {
  BEGIN_REPORTING_CALL;
  if (captures(device_now())) return capturing;
  const auto all = machine().all;  // without those that it forgets
  for (const auto& stream : all)
    if (stream->device == device_now()) wait(stream);
  return reported;
}
DRIVER_CALL(cuMemAlloc_v2, Address* memory, std::size_t bytes) {
  BEGIN_CALL_IN_CONTEXT;
  std::uintptr_t first = 0;
  const int status = allocate(bytes, true, first);
  *memory = first;
  return status;
}
DRIVER_CALL(cuMemAllocManaged, Address* memory, std::size_t bytes, unsigned) {
  BEGIN_CALL_IN_CONTEXT;
  std::uintptr_t first = 0;
  const int status = allocate(bytes, false, first);
  if (status == success) machine().memory[first].on_device = true;
  if (status == success) machine().memory[first].descriptor = -1;
  *memory = first;
  return status;
}
// The program's allocations; every second one is from a pool.
DRIVER_CALL(against_us_allocate, Address* memory, std::size_t bytes) {
  BEGIN_CALL_IN_CONTEXT;
  std::uintptr_t first = 0;
  const int status = allocate(bytes, true, first);
  if (status == success)
    machine().memory[first].of_pool =
        machine().has_pools && (machine().pools_alone || machine().allocations % 2 == 0);
  *memory = first;
  return status;
}
DRIVER_CALL(cuMemGetAddressRange_v2, Address* first, std::size_t* bytes, Address inside) {
  BEGIN_CALL_IN_CONTEXT;
  const Memory* const memory = memory_at(inside);
  if (memory == nullptr) return invalid_value;
  *first = memory->first, *bytes = memory->bytes;
  return success;
}
DRIVER_CALL(cuIpcGetMemHandle, IpcHandle* handle, Address inside) {
  BEGIN_CALL_IN_CONTEXT;
  const Memory* const found = memory_at(inside);
  if (found == nullptr || found->descriptor < 0 || !found->on_device || found->of_pool ||
      found->of_other)
    return invalid_value;
  Memory& memory = machine().memory[found->first];
  if (!memory.shared) {
    memory.shared = std::make_shared<Shared>(memory.descriptor, memory.pages);
    memory.shared->head->bytes = memory.bytes;
    machine().is_lazy = true;
  }
  const int words[2] = {getpid(), memory.descriptor};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, words, sizeof words);
  return success;
}
DRIVER_CALL(cuIpcOpenMemHandle, Address* first, IpcHandle handle, unsigned) {
  BEGIN_CALL_IN_CONTEXT;
  int words[2];
  std::memcpy(words, &handle, sizeof words);
  if (words[0] == getpid()) return invalid_context;
  char file[64];
  std::snprintf(file, sizeof file, "/proc/%d/fd/%d", words[0], words[1]);
  Memory memory{};
  memory.descriptor = open(file, O_RDWR | O_CLOEXEC);
  struct stat status{};
  if (memory.descriptor < 0 || fstat(memory.descriptor, &status) != 0) return map_failed;
  memory.number = status.st_ino;
  memory.of_other = true;
  for (const auto& [place, other] : machine().memory)
    if (other.of_other && other.number == memory.number) refuse("a handle is opened twice");
  const std::size_t pages =
      (static_cast<std::size_t>(status.st_size) - page) / (1 + sizeof(Shared::Counts));
  memory.shared = std::make_shared<Shared>(memory.descriptor, pages);
  const bool is_mapped = map(memory, pages, true);
  close(memory.descriptor);
  if (!is_mapped || memory.shared->head->freed) return map_failed;
  memory.bytes = memory.shared->head->bytes;
  memory.device = device_now();
  machine().memory[memory.first] = memory;
  *first = memory.first;
  return success;
}
DRIVER_CALL(cuIpcCloseMemHandle, Address first) {
  BEGIN_REPORTING_CALL;
  const auto found = machine().memory.find(first);
  if (found == machine().memory.end() || !found->second.of_other)
    refuse("a handle is closed that is not open");
  require_unused(found->second, "a handle is closed that an operation may still use");
  munmap(found->second.seen, found->second.pages);
  munmap(reinterpret_cast<void*>(first), found->second.pages);
  machine().memory.erase(found);
  return reported;
}
DRIVER_CALL(cuMemFree_v2, Address memory) {
  BEGIN_REPORTING_CALL;
  free_memory(memory, true);
  return reported;
}
DRIVER_CALL(cuMemHostAlloc, void** memory, std::size_t bytes, unsigned) {
  BEGIN_CALL_IN_CONTEXT;
  std::uintptr_t first = 0;
  const int status = allocate(bytes, false, first);
  *memory = reinterpret_cast<void*>(first);
  return status;
}
DRIVER_CALL(cuMemFreeHost, void* memory) {
  BEGIN_REPORTING_CALL;
  free_memory(reinterpret_cast<std::uintptr_t>(memory), false);
  return reported;
}
DRIVER_CALL(cuMemcpyHtoDAsync_v2, Address to, const void* from, std::size_t bytes, Stream stream) {
  BEGIN_CALL_IN_CONTEXT;
  auto* const first = reinterpret_cast<std::byte*>(to);
  machine().uploaded += bytes;
  std::vector<std::byte> copy(bytes);  // pageable memory is copied at the call
  std::memcpy(copy.data(), from, bytes);
  return put_now(stream, work_on({}, {range(first, bytes)}, [copy, there = seen(first)] {
    std::memcpy(there, copy.data(), copy.size());
  }));
}
DRIVER_CALL(cuMemcpyDtoDAsync_v2, Address to, Address from, std::size_t bytes, Stream stream) {
  BEGIN_CALL_IN_CONTEXT;
  auto* const dst = reinterpret_cast<std::byte*>(to);
  const auto* const src = reinterpret_cast<const std::byte*>(from);
  return put_now(
      stream, work_on({range(src, bytes)}, {range(dst, bytes)},
                  [bytes, dst = seen(dst), src = seen(src)] { std::memcpy(dst, src, bytes); }));
}
DRIVER_CALL(cuMemcpyHtoD_v2, Address to, const void* from, std::size_t bytes) {
  BEGIN_CALL_IN_CONTEXT;
  auto* const first = reinterpret_cast<std::byte*>(to);
  put(stream_of(nullptr), work_on({}, {range(first, bytes)},
                              [=, there = seen(first)] { std::memcpy(there, from, bytes); }));
  wait(stream_of(nullptr));
  return success;
}
DRIVER_CALL(cuMemcpyDtoH_v2, void* to, Address from, std::size_t bytes) {
  BEGIN_CALL_IN_CONTEXT;
  const auto* const first = reinterpret_cast<const std::byte*>(from);
  put(stream_of(nullptr), work_on({range(first, bytes)}, {},
                              [=, there = seen(first)] { std::memcpy(to, there, bytes); }));
  wait(stream_of(nullptr));
  return success;
}
struct Copy3d {
  struct Side {
    std::size_t x, y, z, level;
    unsigned memory_type;
    void* host;
    std::byte* device;
    void *array, *reserved;
    std::size_t pitch, height;
  } src, dst;
  std::size_t width, height, depth;
};
DRIVER_CALL(cuMemcpy3DAsync_v2, const Copy3d* given, Stream stream) {
  BEGIN_CALL_IN_CONTEXT;
  constexpr unsigned any_memory = 4;
  const Copy3d copy = *given;
  for (const Copy3d::Side* side : {&copy.src, &copy.dst})
    if (side->x + side->y + side->z + side->level != 0 || side->memory_type != any_memory ||
        side->pitch < copy.width || side->height < copy.height)
      return invalid_value;
  Ranges reads, writes;
  std::vector<std::pair<std::byte*, std::byte*>> rows;
  const auto row = [](const Copy3d::Side& side, std::size_t j, std::size_t k) {
    return side.device + (k * side.height + j) * side.pitch;
  };
  for (std::size_t k = 0; k < copy.depth; ++k)
    for (std::size_t j = 0; j < copy.height; ++j) {
      std::byte *const from = row(copy.src, j, k), *const to = row(copy.dst, j, k);
      reads.push_back(range(from, copy.width)), writes.push_back(range(to, copy.width));
      rows.emplace_back(seen(from), seen(to));
    }
  return put_now(stream, work_on(joined(std::move(reads), false), joined(std::move(writes), true),
                             [rows, bytes = copy.width] {
                               for (const auto& [from, to] : rows) std::memcpy(to, from, bytes);
                             }));
}
DRIVER_CALL(cuModuleLoadData, Module* module, const void* text) {
  BEGIN_CALL_IN_CONTEXT;
  if (!has_kernel(static_cast<const char*>(text))) return invalid_value;
  *module = new ModuleOfDriver{{device_now()}};
  machine().modules.insert(*module);
  return success;
}
DRIVER_CALL(cuModuleUnload, Module module) {
  BEGIN_REPORTING_CALL;
  for (const auto& stream : machine().all)
    for (const auto& each : stream->unseen)
      if (each->module == module) refuse("a module is unloaded that an operation may still use");
  if (machine().modules.erase(module) == 0) refuse("a module is unloaded that there is not");
  delete module;
  return reported;
}
DRIVER_CALL(cuModuleGetFunction, Function* function, Module module, const char* name) {
  BEGIN_CALL_IN_CONTEXT;
  if (!machine().modules.contains(module) || std::strcmp(name, "parhelion_copy") != 0)
    return invalid_value;
  *function = &module->copy;
  return success;
}
void require_table(const Ranges& table) {
  require_there(table, device_now());
  const Ranges all = joined(table, false);
  for (const auto& other : machine().all)
    for (const auto& each : other->unseen)
      if (meet(each->writes, all)) refuse("a launch before its table is there");
}
DRIVER_CALL(cuLaunchKernel, Function function, unsigned x, unsigned y, unsigned z, unsigned threads,
    unsigned more_y, unsigned more_z, unsigned, Stream stream, void** parameters, void**) {
  BEGIN_CALL_IN_CONTEXT;
  if (x == 0 || x > most_blocks_x || y != 1 || z != 1 || threads == 0 || threads > most_threads ||
      more_y != 1 || more_z != 1)
    return invalid_value;
  const auto module =
      std::ranges::find_if(machine().modules, [=](Module each) { return &each->copy == function; });
  if (module == machine().modules.end()) refuse("a kernel is launched that there is not");
  if (function->device != device_now()) return invalid_handle;
  Launch launch;
  std::memcpy(&launch, parameters[0], sizeof launch);
  Ranges table{range(launch.table,
      static_cast<std::size_t>(launch.ops) + static_cast<std::size_t>(launch.count) * sizeof(Op))};
  require_table(table);
  const Op* const ops = reinterpret_cast<const Op*>(seen(launch.table) + launch.ops);
  for (const Op& op : std::vector<Op>(ops, ops + launch.count)) {
    const auto add = [&](long long list, std::size_t size) {
      if (list != 0)
        table.push_back(range(
            reinterpret_cast<const void*>(list), static_cast<std::size_t>(op.count[0]) * size));
    };
    add(op.src_list, sizeof(int)), add(op.dst_list, sizeof(int)), add(op.runs, sizeof(RunItem));
  }
  require_table(table);
  auto work = work_of(launch);
  work->module = *module;
  work->reads.insert(work->reads.end(), table.begin(), table.end());  // until it has run
  work->reads = joined(std::move(work->reads), false);
  ++machine().launches;
  return put_now(stream, std::move(work));
}
DRIVER_CALL(cuStreamCreate, Stream* handle, unsigned flags) {
  BEGIN_CALL_IN_CONTEXT;
  const auto stream = made_stream(flags != stream_non_blocking);
  *handle = stream.get();
  machine().streams[*handle] = stream;
  return success;
}
DRIVER_CALL(cuStreamDestroy_v2, Stream handle) {
  BEGIN_REPORTING_CALL;
  stream_of(handle)->destroyed = true;
  machine().streams.erase(handle);
  see({});
  return reported;
}
DRIVER_CALL(cuStreamSynchronize, Stream handle) {
  BEGIN_REPORTING_CALL;
  const auto stream = stream_of(handle);
  if (stream->captured) return capturing;
  wait(stream);
  return reported;
}
DRIVER_CALL(cuStreamWaitEvent, Stream handle, EventHandle event, unsigned) {
  BEGIN_CALL_IN_CONTEXT;
  require_event(event);
  const auto stream = stream_of(handle);
  if (stream->captured) return isolated;
  if (!event->stream) return success;
  join(stream->before, event->before);
  auto work = work_on({}, {}, [] {});
  work->may_run = [other = event->stream, number = event->number] { return other->done >= number; };
  put(stream, std::move(work));
  return success;
}
DRIVER_CALL(cuStreamBeginCapture_v2, Stream handle, int) {
  BEGIN_CALL_IN_CONTEXT;
  stream_of(handle)->captured = 1;
  return success;
}
DRIVER_CALL(cuStreamEndCapture, Stream handle, void** graph) {
  BEGIN_CALL_IN_CONTEXT;
  stream_of(handle)->captured = 0;
  *graph = nullptr;
  return success;
}
DRIVER_CALL(cuGraphDestroy, void*) { return success; }
DRIVER_CALL(cuStreamIsCapturing, Stream handle, int* status) {
  BEGIN_CALL_IN_CONTEXT;
  const auto stream = stream_of(handle);
  if (stream == machine().defaults[device_now()][0])
    for (const auto& other : machine().all)
      if (other->captured && other->blocks && other->device == stream->device)
        return captures_implicitly;
  *status = stream->captured != 0;
  return success;
}
DRIVER_CALL(cuStreamGetCtx, Stream handle, Context* context) {
  BEGIN_CALL;
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) REQUIRE_CONTEXT;
  *context = &machine().contexts[stream_of(handle)->device];
  return success;
}
DRIVER_CALL(cuEventCreate, EventHandle* event, unsigned) {
  BEGIN_CALL_IN_CONTEXT;
  *event = new EventOfDriver;
  (*event)->device = device_now();
  machine().events.insert(*event);
  return success;
}
DRIVER_CALL(cuEventDestroy_v2, EventHandle event) {
  BEGIN_REPORTING_CALL;
  require_event(event);
  machine().events.erase(event);
  delete event;
  return reported;
}
DRIVER_CALL(cuEventRecord, EventHandle event, Stream handle) {
  BEGIN_CALL_IN_CONTEXT;
  require_event(event);
  const auto stream = stream_of(handle);
  if (stream->device != event->device || stream->device != device_now()) return invalid_handle;
  if (stream->captured) return capturing;
  put(stream, work_on({}, {}, [] {}));
  event->stream = stream;
  event->number = stream->last;
  event->before = stream->before;
  event->before[stream->name] = stream->last;
  return success;
}
DRIVER_CALL(cuEventQuery, EventHandle event) {
  BEGIN_CALL_IN_CONTEXT;
  require_event(event);
  if (captures(event->device, false)) return capturing;
  some_steps();
  if (event->stream && event->stream->done < event->number) return not_ready;
  see(event->before);
  return success;
}

DRIVER_CALL(against_us_make_current) {  // like the program's cuCtxSetCurrent
  current.push_back(&machine().contexts[machine().chosen]);
  hip_device = -1;
  return success;
}
extern "C" void against_us_choose(int device) {  // of the next against_us_make_current
  const std::lock_guard lock(machine().mutex);
  machine().chosen = device;
}
// Contexts of this thread; 99: HIP's device is not the program's.
extern "C" std::size_t against_us_contexts() {
  const bool is_kept =
      hip_device < 0 || hip_device == (current.empty() ? 0 : current.back()->device);
  return is_kept ? current.size() : 99;
}
extern "C" std::byte* against_us_seen(std::byte* memory) {
  const std::lock_guard lock(machine().mutex);
  return seen(memory);
}
extern "C" void against_us_seed(std::uint64_t seed) {
  const std::lock_guard lock(machine().mutex);
  machine().random.seed(seed);
}
extern "C" void against_us_fail(long long calls) {
  const std::lock_guard lock(machine().mutex);
  machine().calls_until_failure = calls;
  machine().is_gone = false;
}
extern "C" const char* against_us_failed() {  // name of the call that was last made to fail
  const std::lock_guard lock(machine().mutex);
  return machine().failed;
}
extern "C" void against_us_exhaust(long long allocations) {  // the next one after so many fails
  const std::lock_guard lock(machine().mutex);
  machine().allocations_until_exhausted = allocations;
}
extern "C" bool against_us_is_exhausted() {
  const std::lock_guard lock(machine().mutex);
  return machine().allocations_until_exhausted < 0;
}
// Streams, events, allocations, opened handles, modules and retained contexts.
std::size_t alive() {
  const Machine& of = machine();
  return of.streams.size() + of.events.size() + of.memory.size() + of.modules.size() +
         static_cast<std::size_t>(of.primary[0] + of.primary[1]);
}
extern "C" std::size_t against_us_alive() {
  const std::lock_guard lock(machine().mutex);
  return alive() - machine().forgiven;
}
extern "C" void against_us_forgive(std::size_t down_to) {  // what is alive now beyond so many
  const std::lock_guard lock(machine().mutex);
  machine().forgiven = alive() - down_to;
}
extern "C" long long against_us_left() {
  const std::lock_guard lock(machine().mutex);
  return machine().calls_until_failure;
}
extern "C" void against_us_capture(Stream stream, int on) {  // 2: relaxed
  const std::lock_guard lock(machine().mutex);
  stream_of(stream)->captured = on;
}
extern "C" bool against_us_has_pools() { return machine().has_pools; }
extern "C" void against_us_set_pools(int every) {  // 1: all allocations are from a pool
  const std::lock_guard lock(machine().mutex);
  machine().has_pools = every != 0;
  machine().pools_alone = every == 1;
}
// Bytes of device memory, except managed, that the host can touch.
extern "C" std::size_t against_us_reachable() {
  const std::lock_guard lock(machine().mutex);
  std::size_t bytes = 0;
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  for (char line[4096]; std::fgets(line, sizeof line, maps) != nullptr;) {
    std::uintptr_t first = 0, end = 0;
    char access[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &first, &end, access) != 3 || access[0] != 'r') continue;
    for (const auto& [at, memory] : machine().memory)
      if (memory.on_device && memory.device != any_device && at < end && first < at + memory.bytes)
        bytes += std::min(end, at + memory.bytes) - std::max(first, at);
  }
  std::fclose(maps);
  return bytes;
}
extern "C" std::size_t against_us_modules() {
  const std::lock_guard lock(machine().mutex);
  return machine().modules.size();
}
extern "C" std::size_t against_us_uploaded() {  // bytes copied from the host
  const std::lock_guard lock(machine().mutex);
  return machine().uploaded;
}
extern "C" std::size_t against_us_events() {
  const std::lock_guard lock(machine().mutex);
  return machine().events.size();
}
extern "C" std::uint64_t against_us_launches() {
  const std::lock_guard lock(machine().mutex);
  return machine().launches;
}

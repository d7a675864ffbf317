// A driver of CUDA that is against us. Memory of its devices can be touched by its own copies
// alone. Nothing runs when it is put on a stream: when somebody asks, some of it does, in an order
// that a seed decides among all whose declared dependencies hold. It ends the process, and says
// why, where two operations touch the same bytes in no declared order, where one touches memory
// that is not there, or where memory goes that one still uses. Any call can be made to fail.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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
#include <vector>

#include "plan/device/driver.hpp"
#include "plan/device/item.hpp"

namespace against_us {

using namespace parhelion::device;
using Number = std::uint64_t;
using Clock = std::map<int, Number>;  // of streams: what comes before

constexpr int no_memory = 2, invalid_context = 201, capturing = 900;
constexpr int pretended_failure = 719;
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

// Sorted and joined. `apart`: ranges that share bytes are refused.
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

struct Memory {
    std::uintptr_t first;
    std::byte* seen;
    std::size_t bytes;
    bool on_device, of_pool;
};

// Something on a stream: it runs a little at a time, and tells when it is done.
struct Work {
    Number number;
    std::function<bool()> run;
    std::function<bool()> may_run = [] { return true; };
    Ranges reads, writes;
};

}  // namespace against_us

namespace parhelion::device {  // what the driver's handles stand for

using namespace against_us;

struct StreamOfDriver {
    int name = 0;
    Number last = 0, done = 0;
    Clock before;  // of what is put here next
    std::deque<std::shared_ptr<Work>> waiting;
    std::deque<std::shared_ptr<Work>> unseen;  // not known to the host to be done
    bool captured = false;
};
struct EventOfDriver {
    std::shared_ptr<StreamOfDriver> stream;  // null: never recorded
    Number number = 0;
    Clock before;
};
struct ContextOfDriver {};
struct ModuleOfDriver {};
struct FunctionOfDriver {};

}  // namespace parhelion::device

namespace against_us {

struct Machine {
    std::mutex mutex;
    std::mt19937_64 random{1};
    std::map<std::uintptr_t, Memory> memory;
    std::multimap<std::size_t, Memory> freed;
    std::map<Stream, std::shared_ptr<StreamOfDriver>> streams;
    std::set<EventHandle> events;
    int named = 0, allocations = 0, primary = 0;
    Clock seen_by_host;
    Number launches = 0;
    long long calls_until_failure = -1;
    ContextOfDriver context;
    ModuleOfDriver module;
    FunctionOfDriver function;
    const int ordinal = static_cast<int>(getpid() % 3);  // another one in each process
};

Machine& machine() {
    static auto* const instance = new Machine;
    return *instance;
}
thread_local std::vector<Context> current;

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

// Where this driver itself may touch it.
template <class T>
T* seen(T* address) {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const Memory* const memory = memory_at(number);
    return memory == nullptr ? address
                             : reinterpret_cast<T*>(memory->seen + (number - memory->first));
}

void require_there(const Ranges& ranges) {
    for (const Range& each : ranges) {
        const Memory* const memory = memory_at(each.first);
        if (memory == nullptr || each.end > memory->first + memory->bytes)
            refuse("an operation touches memory that the device does not have");
    }
}

std::shared_ptr<StreamOfDriver> stream_of(Stream handle) {
    auto& known = machine().streams[handle];
    if (!known && handle != nullptr) refuse("a stream is used that there is not");
    if (!known) known = std::make_shared<StreamOfDriver>();
    return known;
}

void put(const std::shared_ptr<StreamOfDriver>& stream, std::shared_ptr<Work> work) {
    require_there(work->reads);
    require_there(work->writes);
    join(stream->before, machine().seen_by_host);
    for (const auto& [handle, other] : machine().streams) {
        if (other == stream) continue;
        const Number known = stream->before[other->name];
        for (const auto& each : other->unseen)
            if (each->number > known &&
                (meet(each->writes, work->writes) || meet(each->writes, work->reads) ||
                 meet(each->reads, work->writes)))
                refuse("two operations in no order touch the same bytes");
    }
    work->number = ++stream->last;
    stream->waiting.push_back(work);
    stream->unseen.push_back(std::move(work));
}

// A little of what may run; false: nothing may.
bool step() {
    std::vector<StreamOfDriver*> ready;
    for (const auto& [handle, stream] : machine().streams)
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
    for (long long some = between(0, 6); some > 0; --some) step();
}

// The host knows that it is done.
void see(const Clock& done) {
    join(machine().seen_by_host, done);
    for (const auto& [handle, stream] : machine().streams)
        while (!stream->unseen.empty() &&
               stream->unseen.front()->number <= machine().seen_by_host[stream->name])
            stream->unseen.pop_front();
}

void wait(const std::shared_ptr<StreamOfDriver>& stream) {
    while (!stream->waiting.empty())
        if (!step()) refuse("a stream waits for what never comes");
    Clock done = stream->before;
    done[stream->name] = stream->last;
    see(done);
}

// Items in an order of their own.
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

int allocate(std::size_t bytes, bool on_device, std::uintptr_t& first) {
    if (bytes == 0) return invalid_value;
    Machine& of = machine();
    const std::size_t pages = (bytes + 4095) / 4096 * 4096;
    Memory memory{};
    if (auto old = on_device ? of.freed.find(pages) : of.freed.end(); old != of.freed.end()) {
        memory = old->second;  // the same addresses again
        of.freed.erase(old);
    } else {
        const int descriptor = memfd_create("against_us", MFD_CLOEXEC);
        if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(pages)) != 0)
            return no_memory;
        const auto map = [&](int access) {
            return mmap(nullptr, pages, access, MAP_SHARED, descriptor, 0);
        };
        void* const there = map(PROT_READ | PROT_WRITE);
        void* const first_byte = on_device ? map(PROT_NONE) : there;
        close(descriptor);
        if (there == MAP_FAILED || first_byte == MAP_FAILED) return no_memory;
        memory = {reinterpret_cast<std::uintptr_t>(first_byte), static_cast<std::byte*>(there), 0,
                  on_device, false};
    }
    memory.bytes = bytes;
    memory.of_pool = ++of.allocations % 2 == 0;
    std::memset(memory.seen, 0x5A, bytes);
    of.memory[memory.first] = memory;
    first = memory.first;
    return success;
}

int free_memory(std::uintptr_t first, bool on_device) {
    const auto found = machine().memory.find(first);
    if (found == machine().memory.end() || found->second.on_device != on_device)
        refuse("memory is freed that there is not");
    const Ranges all{{first, first + found->second.bytes}};
    for (const auto& [handle, stream] : machine().streams)
        for (const auto& each : stream->unseen)
            if (meet(each->reads, all) || meet(each->writes, all))
                refuse("memory is freed that an operation may still use");
    const std::size_t pages = (found->second.bytes + 4095) / 4096 * 4096;
    if (on_device) machine().freed.emplace(pages, found->second);
    else munmap(found->second.seen, pages);
    machine().memory.erase(found);
    return success;
}

bool fails() {
    long long& left = machine().calls_until_failure;
    return left >= 0 && left-- == 0;
}

}  // namespace against_us

using namespace against_us;

#define DRIVER_CALL(name, ...) extern "C" int name(__VA_ARGS__)
#define BEGIN_CALL                               \
    const std::lock_guard lock(machine().mutex); \
    if (fails()) return pretended_failure
#define BEGIN_CALL_IN_CONTEXT \
    BEGIN_CALL;               \
    if (current.empty() || current.back() == nullptr) return invalid_context

DRIVER_CALL(cuGetErrorName, int status, const char** name) {
    *name = status == pretended_failure ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OF_THIS_DRIVER";
    return success;
}
DRIVER_CALL(cuDriverGetVersion, int* version) {
    const char* const told = std::getenv("AGAINST_US_VERSION");
    *version = told != nullptr ? std::atoi(told) : 12040;
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
    else if (attribute == attribute_ordinal) *static_cast<int*>(value) = machine().ordinal;
    else if (attribute == attribute_context)
        *static_cast<Context*>(value) = memory->of_pool ? nullptr : &machine().context;
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
DRIVER_CALL(cuDevicePrimaryCtxRetain, Context* context, int) {
    BEGIN_CALL;
    ++machine().primary;
    *context = &machine().context;
    return success;
}
DRIVER_CALL(cuDevicePrimaryCtxRelease_v2, int) {
    BEGIN_CALL;
    if (machine().primary-- == 0) refuse("a context is released that nobody has");
    return success;
}
DRIVER_CALL(cuCtxPushCurrent_v2, Context context) {
    BEGIN_CALL;
    if (context != &machine().context) return invalid_context;
    current.push_back(context);
    return success;
}
DRIVER_CALL(cuCtxPopCurrent_v2, Context* context) {
    if (current.empty()) return invalid_context;
    *context = current.back();
    current.pop_back();
    return success;
}
DRIVER_CALL(cuCtxGetCurrent, Context* context) {
    BEGIN_CALL;
    *context = current.empty() ? nullptr : current.back();
    return success;
}
DRIVER_CALL(cuCtxSynchronize) {
    BEGIN_CALL_IN_CONTEXT;
    for (const auto& [handle, stream] : machine().streams) wait(stream);
    return success;
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
    *memory = first;
    return status;
}
DRIVER_CALL(cuMemFree_v2, Address memory) {
    BEGIN_CALL_IN_CONTEXT;
    return free_memory(memory, true);
}
DRIVER_CALL(cuMemHostAlloc, void** memory, std::size_t bytes, unsigned) {
    BEGIN_CALL_IN_CONTEXT;
    std::uintptr_t first = 0;
    const int status = allocate(bytes, false, first);
    *memory = reinterpret_cast<void*>(first);
    return status;
}
DRIVER_CALL(cuMemFreeHost, void* memory) {
    BEGIN_CALL_IN_CONTEXT;
    return free_memory(reinterpret_cast<std::uintptr_t>(memory), false);
}
DRIVER_CALL(cuMemcpyHtoDAsync_v2, Address to, const void* from, std::size_t bytes, Stream stream) {
    BEGIN_CALL_IN_CONTEXT;
    auto* const first = reinterpret_cast<std::byte*>(to);
    std::vector<std::byte> copy(bytes);  // of memory that is not page-locked, at the call
    std::memcpy(copy.data(), from, bytes);
    put(stream_of(stream), work_on({}, {range(first, bytes)}, [copy, there = seen(first)] {
            std::memcpy(there, copy.data(), copy.size());
        }));
    return success;
}
DRIVER_CALL(cuMemcpyDtoDAsync_v2, Address to, Address from, std::size_t bytes, Stream stream) {
    BEGIN_CALL_IN_CONTEXT;
    auto* const dst = reinterpret_cast<std::byte*>(to);
    const auto* const src = reinterpret_cast<const std::byte*>(from);
    put(stream_of(stream),
        work_on({range(src, bytes)}, {range(dst, bytes)},
                [bytes, dst = seen(dst), src = seen(src)] { std::memcpy(dst, src, bytes); }));
    return success;
}
DRIVER_CALL(cuModuleLoadData, Module* module, const void* text) {
    BEGIN_CALL_IN_CONTEXT;
    if (std::strstr(static_cast<const char*>(text), ".entry parhelion_copy(") == nullptr)
        return invalid_value;
    *module = &machine().module;
    return success;
}
DRIVER_CALL(cuModuleUnload, Module) {
    BEGIN_CALL_IN_CONTEXT;
    return success;
}
DRIVER_CALL(cuModuleGetFunction, Function* function, Module, const char* name) {
    BEGIN_CALL_IN_CONTEXT;
    if (std::strcmp(name, "parhelion_copy") != 0) return invalid_value;
    *function = &machine().function;
    return success;
}
DRIVER_CALL(cuLaunchKernel, Function, unsigned x, unsigned y, unsigned z, unsigned threads,
            unsigned more_y, unsigned more_z, unsigned, Stream stream, void** parameters, void**) {
    BEGIN_CALL_IN_CONTEXT;
    if (x == 0 || x > most_blocks_x || y != 1 || z != 1 || threads == 0 || threads > most_threads ||
        more_y != 1 || more_z != 1)
        return invalid_value;
    Launch launch;
    std::memcpy(&launch, parameters[0], sizeof launch);
    const Ranges table{
        range(launch.table, static_cast<std::size_t>(launch.ops) +
                                static_cast<std::size_t>(launch.count) * sizeof(Op))};
    require_there(table);
    for (const auto& [handle, other] : machine().streams)
        for (const auto& each : other->unseen)
            if (meet(each->writes, table)) refuse("a launch before its table is there");
    put(stream_of(stream), work_of(launch));
    ++machine().launches;
    return success;
}
DRIVER_CALL(cuStreamCreate, Stream* handle, unsigned) {
    BEGIN_CALL_IN_CONTEXT;
    auto stream = std::make_shared<StreamOfDriver>();
    stream->name = ++machine().named;
    *handle = stream.get();
    machine().streams[*handle] = std::move(stream);
    return success;
}
DRIVER_CALL(cuStreamDestroy_v2, Stream handle) {
    BEGIN_CALL_IN_CONTEXT;
    wait(stream_of(handle));
    const int name = handle->name;  // all that it had is seen: nobody needs to know it any more
    machine().streams.erase(handle);
    machine().seen_by_host.erase(name);
    for (const auto& [other, stream] : machine().streams) stream->before.erase(name);
    return success;
}
DRIVER_CALL(cuStreamSynchronize, Stream handle) {
    BEGIN_CALL_IN_CONTEXT;
    wait(stream_of(handle));
    return success;
}
DRIVER_CALL(cuStreamWaitEvent, Stream handle, EventHandle event, unsigned) {
    BEGIN_CALL_IN_CONTEXT;
    if (!event->stream) return success;
    const auto stream = stream_of(handle);
    join(stream->before, event->before);
    auto work = work_on({}, {}, [] {});
    work->may_run = [other = event->stream, number = event->number] {
        return other->done >= number;
    };
    put(stream, std::move(work));
    return success;
}
DRIVER_CALL(cuStreamBeginCapture_v2, Stream handle, int) {
    BEGIN_CALL_IN_CONTEXT;
    stream_of(handle)->captured = true;
    return success;
}
DRIVER_CALL(cuStreamEndCapture, Stream handle, void** graph) {
    BEGIN_CALL_IN_CONTEXT;
    stream_of(handle)->captured = false;
    *graph = nullptr;
    return success;
}
DRIVER_CALL(cuGraphDestroy, void*) { return success; }
DRIVER_CALL(cuStreamIsCapturing, Stream handle, int* status) {
    BEGIN_CALL;
    *status = stream_of(handle)->captured;
    return success;
}
DRIVER_CALL(cuStreamGetCtx, Stream, Context* context) {
    BEGIN_CALL;
    *context = &machine().context;
    return success;
}
DRIVER_CALL(cuEventCreate, EventHandle* event, unsigned) {
    BEGIN_CALL_IN_CONTEXT;
    *event = new EventOfDriver;
    machine().events.insert(*event);
    return success;
}
DRIVER_CALL(cuEventDestroy_v2, EventHandle event) {
    BEGIN_CALL_IN_CONTEXT;
    machine().events.erase(event);
    delete event;
    return success;
}
DRIVER_CALL(cuEventRecord, EventHandle event, Stream handle) {
    BEGIN_CALL_IN_CONTEXT;
    const auto stream = stream_of(handle);
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
    some_steps();
    if (event->stream && event->stream->done < event->number) return not_ready;
    see(event->before);
    return success;
}

// For tests.
DRIVER_CALL(against_us_make_current) {  // as a program's cuCtxSetCurrent
    current.push_back(&machine().context);
    return success;
}
extern "C" std::size_t against_us_contexts() { return current.size(); }
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
}
extern "C" long long against_us_left() {
    const std::lock_guard lock(machine().mutex);
    return machine().calls_until_failure;
}
extern "C" void against_us_capture(Stream stream, int on) {
    const std::lock_guard lock(machine().mutex);
    stream_of(stream)->captured = on != 0;
}
extern "C" std::uint64_t against_us_launches() {
    const std::lock_guard lock(machine().mutex);
    return machine().launches;
}

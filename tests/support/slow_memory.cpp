#include "support/slow_memory.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "parhelion/core/aligned.hpp"
#include "support/random.hpp"

namespace test {

using namespace parhelion;

namespace {

constexpr std::byte not_there{0x5A};

// The library's and the test's mapping of a slow array.
struct Place {
  std::byte* seen;
  std::size_t bytes;
};

class SlowQueue;

// State of the process, under one mutex.
struct Machine {
  std::mutex mutex;
  Random random{1};
  std::map<std::uintptr_t, Place> hidden, seen;  // by first byte
  std::vector<SlowQueue*> queues;
  std::uint64_t copies = 0;
};

Machine& machine() {
  static auto* const instance = new Machine;
  return *instance;
}

std::uintptr_t number(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

// The other mapping of a byte, or the byte itself.
std::byte* other_place(const std::map<std::uintptr_t, Place>& from, std::byte* at) {
  auto next = from.upper_bound(number(at));
  if (next == from.begin()) return at;
  const auto& [first, place] = *--next;
  const std::uintptr_t offset = number(at) - first;
  return offset < place.bytes ? place.seen + offset : at;
}

void* map_all(int descriptor, std::size_t bytes, int access) {
  return mmap(nullptr, bytes, access, MAP_SHARED, descriptor, 0);
}

// Some cells of an op, as a one-op program.
using Cells = Program;

struct Compiled {
  Levels levels;
  std::deque<std::vector<local_index>> pool;
  std::size_t src_bases = 0, dst_bases = 0;
};

struct Task {
  std::shared_ptr<const Compiled> program;
  std::vector<std::byte*> src, dst;
  Reduction reduction = Reduction::replace;
  std::size_t level = 0;
  std::vector<Cells> cells;  // remaining in the level
  bool opened = false;
  std::uint64_t event = 0;                   // 0: a copy
  std::weak_ptr<const std::uint64_t> other;  // of follows(): last event that the queue passed
  std::uint64_t awaited = 0;
};

void cut(const StridedOp& op, std::vector<Cells>& all, int d = 0) {
  if (d < op.dims) {
    StridedOp inner = op;
    inner.count[static_cast<std::size_t>(d)] = 1;
    // Splits planes only: a piece per cell would take minutes.
    const byte_count count = op.count[static_cast<std::size_t>(d)],
                     pieces = std::min<byte_count>(count, 3);
    for (byte_count k = 0; k < pieces; ++k) {
      const byte_count first = count * k / pieces;
      inner.count[static_cast<std::size_t>(d)] = count * (k + 1) / pieces - first;
      inner.src = op.src + first * op.src_stride[static_cast<std::size_t>(d)];
      inner.dst = op.dst + first * op.dst_stride[static_cast<std::size_t>(d)];
      if (d < 1) cut(inner, all, d + 1);
      else all.emplace_back().strided.push_back(inner);
    }
    return;
  }
  all.emplace_back().strided.push_back(op);
}
void cut(const IndexedOp& op, std::vector<Cells>& all) {
  const byte_count pieces = std::min<byte_count>(op.count, 5);
  for (byte_count k = 0; k < pieces; ++k) {
    const byte_count first = op.count * k / pieces;
    IndexedOp some = op;
    some.count = op.count * (k + 1) / pieces - first;
    if (op.src_list != nullptr) some.src_list += first;
    else some.src += first * op.src_stride;
    if (op.dst_list != nullptr) some.dst_list += first;
    else some.dst += first * op.dst_stride;
    all.emplace_back().indexed.push_back(some);
  }
}
void cut(const RunsOp& op, std::vector<Cells>& all) {
  for (const Run& run : op.runs) {
    RunsOp one{op.src_base, op.dst_base, {}, op.scalar, op.src, op.dst};
    one.runs.add(run);
    all.emplace_back().runs.push_back(one);
  }
}

class SlowQueue final : public Queue {
 public:
  SlowQueue() {
    const std::lock_guard lock(machine().mutex);
    machine().queues.push_back(this);
  }
  ~SlowQueue() override {
    const std::lock_guard lock(machine().mutex);
    std::erase(machine().queues, this);
  }

  void enqueue(const Program& program, Bases src, Bases dst, Reduction reduction) override {
    const std::lock_guard lock(machine().mutex);
    auto compiled = std::static_pointer_cast<const Compiled>(program.compiled);
    if (!compiled && program.empty()) return;
    if (!compiled) throw std::logic_error("a program was put on a queue that was not compiled");
    ++machine().copies;
    Task& task = tasks_.emplace_back();
    for (std::size_t i = 0; i < compiled->src_bases; ++i)
      task.src.push_back(other_place(machine().hidden, src[i]));
    for (std::size_t i = 0; i < compiled->dst_bases; ++i)
      task.dst.push_back(other_place(machine().hidden, dst[i]));
    task.program = std::move(compiled);
    task.reduction = reduction;
  }
  Event record() override {
    const std::lock_guard lock(machine().mutex);
    if (tasks_.empty()) return {};
    tasks_.emplace_back().event = ++recorded_;
    return {recorded_};
  }
  void follow(Queue& other) override {
    auto* const slow = dynamic_cast<SlowQueue*>(&other);
    if (slow == nullptr) return other.wait();
    if (slow == this) return;
    const Event event = slow->record();
    const std::lock_guard lock(machine().mutex);
    if (event.number == 0) return;
    Task& task = tasks_.emplace_back();
    task.other = slow->passed_;
    task.awaited = event.number;
  }

  // Whether the first task may run.
  bool can_go_on() const {
    if (tasks_.empty()) return false;
    const Task& task = tasks_.front();
    if (task.awaited == 0) return true;
    const auto passed = task.other.lock();
    return !passed || *passed >= task.awaited;
  }
  // Executes a piece of the first task.
  void go_on() {
    Task& task = tasks_.front();
    if (task.event != 0) *passed_ = task.event;
    if (task.event != 0 || task.awaited != 0) return tasks_.pop_front();
    open(task);
    for (int some = machine().random.between(1, 40); some > 0 && !task.cells.empty(); --some) {
      auto& all = task.cells;
      std::swap(all[machine().random.next() % all.size()], all.back());
      reduce(all.back(), task.src.data(), task.dst.data(), task.reduction);
      all.pop_back();
    }
    if (!task.cells.empty()) return;
    ++task.level, task.opened = false;
    if (task.level >= task.program->levels.levels.size()) tasks_.pop_front();
  }

 private:
  bool has_passed(std::uint64_t number) override {
    const std::lock_guard lock(machine().mutex);
    for (int some = machine().random.between(0, 6); some > 0; --some) {
      std::vector<SlowQueue*> ready;
      std::copy_if(machine().queues.begin(), machine().queues.end(), std::back_inserter(ready),
          [](const SlowQueue* each) { return each->can_go_on(); });
      if (ready.empty()) break;
      machine().random.pick(ready)->go_on();
    }
    return *passed_ >= number;
  }
  static void open(Task& task) {
    if (std::exchange(task.opened, true) || task.level >= task.program->levels.levels.size())
      return;
    const Program& level = task.program->levels.levels[task.level];
    for (const StridedOp& op : level.strided) cut(op, task.cells);
    for (const IndexedOp& op : level.indexed) cut(op, task.cells);
    for (const RunsOp& op : level.runs) cut(op, task.cells);
  }

  std::deque<Task> tasks_;
  std::uint64_t recorded_ = 0;
  const std::shared_ptr<std::uint64_t> passed_ = std::make_shared<std::uint64_t>(0);
};

class SlowExecutor final : public Executor {
 public:
  void compile(Program& program) override {
    auto compiled = std::make_shared<Compiled>();
    compiled->levels = levels_of(program);
    for (Program& level : compiled->levels.levels) {
      for (IndexedOp& op : level.indexed) upload(*compiled, op);
      const auto count = [&](const auto& ops) {
        for (const auto& op : ops) {
          compiled->src_bases =
              std::max(compiled->src_bases, static_cast<std::size_t>(op.src_base) + 1);
          compiled->dst_bases =
              std::max(compiled->dst_bases, static_cast<std::size_t>(op.dst_base) + 1);
        }
      };
      count(level.strided), count(level.indexed), count(level.runs);
    }
    program.compiled = std::move(compiled);
  }
  std::shared_ptr<Queue> make_queue() override { return std::make_shared<SlowQueue>(); }
  std::shared_ptr<std::byte> allocate(byte_count bytes) override {
    std::shared_ptr<std::byte> memory{allocate_aligned(bytes).release(), FreeBytes()};
    std::memset(memory.get(), static_cast<int>(not_there), static_cast<std::size_t>(bytes));
    return memory;
  }

 private:
  // Copies the op's lists: later changes by the caller have no effect.
  static void upload(Compiled& to, IndexedOp& op) {
    for (const local_index** list : {&op.src_list, &op.dst_list})
      if (*list != nullptr) *list = to.pool.emplace_back(*list, *list + op.count).data();
  }
};

}  // namespace

DriverAgainstUs::DriverAgainstUs() {
  const char* file = std::getenv("PARHELION_TEST_DRIVER");
  if (file == nullptr) file = std::getenv("PARHELION_CUDA");
  void* const library = file == nullptr ? nullptr : dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
#define PARHELION_FIND(type, name, symbol, parameters) find(name, #symbol);
  PARHELION_AGAINST_US(PARHELION_FIND)
#undef PARHELION_FIND
}

const DriverAgainstUs& driver_against_us() {
  static const DriverAgainstUs instance;
  return instance;
}

namespace {

std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes) {
  const DriverAgainstUs& driver = driver_against_us();
  unsigned long long hidden = 0;
  driver.make_current();
  const int status = driver.allocate(&hidden, bytes);
  void* context = nullptr;
  driver.pop_context(&context);
  if (status != 0) throw std::bad_alloc();
  auto* const first = reinterpret_cast<std::byte*>(hidden);
  std::byte* const seen = driver.seen(first);
  const std::lock_guard lock(machine().mutex);
  machine().seen[number(seen)] = {first, bytes};
  return {seen, [hidden, &driver](std::byte* given_back) {
            {
              const std::lock_guard also(machine().mutex);
              machine().seen.erase(number(given_back));
            }
            void* popped = nullptr;
            driver.make_current();
            driver.free(hidden);
            driver.pop_context(&popped);
          }};
}

}  // namespace

std::shared_ptr<std::byte> allocate_slow(std::size_t bytes) {
  if (driver_against_us()) return allocate_on_device(bytes);
  const int descriptor = memfd_create("slow", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    throw std::bad_alloc();
  void* const seen = map_all(descriptor, bytes, PROT_READ | PROT_WRITE);
  void* const hidden = map_all(descriptor, bytes, PROT_NONE);
  close(descriptor);
  if (seen == MAP_FAILED || hidden == MAP_FAILED) throw std::bad_alloc();
  const auto both = std::pair(static_cast<std::byte*>(seen), static_cast<std::byte*>(hidden));
  const std::lock_guard lock(machine().mutex);
  machine().seen[number(both.first)] = {both.second, bytes};
  machine().hidden[number(both.second)] = {both.first, bytes};
  return {both.first, [both, bytes](std::byte*) {
            {
              const std::lock_guard given_back(machine().mutex);
              machine().seen.erase(number(both.first));
              machine().hidden.erase(number(both.second));
            }
            munmap(both.first, bytes);
            munmap(both.second, bytes);
          }};
}

std::byte* as_slow(std::byte* place) {
  const std::lock_guard lock(machine().mutex);
  return place == nullptr ? nullptr : other_place(machine().seen, place);
}

Field as_slow(Field view) {
  view.space = MemorySpace::device;
  for (BlockView& block : view.blocks) block.first = as_slow(block.first);
  return view;
}

void register_slow_executors(bool host) {
  if (driver_against_us()) return;
  const auto make = [] { return std::make_shared<SlowExecutor>(); };
  register_executor(MemorySpace::device, make);
  if (host) register_executor(MemorySpace::host, make);
}

void seed_slow_executors(std::uint64_t seed) {
  if (driver_against_us()) driver_against_us().set_seed(seed);
  const std::lock_guard lock(machine().mutex);
  machine().random = Random(seed);
}

std::uint64_t slow_copies() {
  const std::lock_guard lock(machine().mutex);
  return machine().copies;
}

}  // namespace test

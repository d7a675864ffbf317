#include "plan/device/device_executor.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/concat.hpp"
#include "parhelion/core/aligned.hpp"
#include "plan/device/driver.hpp"
#include "plan/device/launch.hpp"

namespace parhelion {
namespace device {
namespace {

constexpr const char* kernel_text =
#include "plan/device/kernel.ptx"
    ;
alignas(4096) constexpr unsigned char hip_kernels[] = {
#ifdef PARHELION_SIMULATED  // no devices
    0
#else
#include "plan/device/kernel.hip.inc"
#endif
};
constexpr unsigned most_blocks = 1 << 16;  // beyond this, threads process several items each
constexpr const char* in_capture =
    "a stream is captured into a graph, but messages need the host: begin and end the exchange "
    "outside the capture";

bool is_of_capture(int status) { return status >= 900 && status <= 908; }

static_assert(Op::most_dims == StridedOp::most_dims && sizeof(local_index) == sizeof(int));

// A context's module, from the first plan to the last one that uses it. Requires the context to be
// current.
std::shared_ptr<ModuleOfDriver> module_of(Context context) {
  static std::mutex mutex;
  static auto* const known = new std::map<Context, std::weak_ptr<ModuleOfDriver>>;
  const std::lock_guard lock(mutex);
  auto& here = (*known)[context];
  std::shared_ptr<ModuleOfDriver> found = here.lock();
  if (found) return found;
  Module made = nullptr;
  const void* const image = driver().is_hip ? static_cast<const void*>(hip_kernels) : kernel_text;
  check(driver().load_module(&made, image), "cuModuleLoadData");
  const auto unload = [context](Module module) {
    at_end(context, [&] {
      driver().synchronize();  // launches may be pending
      driver().unload_module(module);
    });
  };
  here = found = std::shared_ptr<ModuleOfDriver>(made, unload);
  return found;
}

// An array's context, with the tables of one plan.
class Device {
 public:
  explicit Device(const std::byte* array) {
    ordinal_ = device_of(array);
    if (ordinal_ < 0)
      refuse(
          "an array of MemorySpace::device is in the host's memory: set the space of its "
          "view to host, or pass an array on a device");
    int unified = 0;
    check(driver().get_device_attribute(&unified, attribute_unified_addressing, ordinal_),
        "cuDeviceGetAttribute");
    if (unified == 0)
      refuse("device ", ordinal_,
          " does not share addresses with the host: use arrays in the host's memory");
    context_ = context_of(array);
    if (context_ == nullptr) take_primary();
  }
  ~Device() {
    module_.reset();
    block_.reset();
    if (has_primary_) driver().release_primary(ordinal_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Context context() const { return context_; }
  int ordinal() const { return ordinal_; }
  Function kernel() const { return kernel_; }

  /// Copies the table to the device, after `place` has its address there. Small tables share a
  /// block of memory.
  template <class Place>
  std::shared_ptr<const char> upload(const std::vector<char>& table, Place&& place) {
    constexpr std::size_t line = 256, usual_block = 256 << 10;
    const std::size_t bytes = (table.size() + line - 1) / line * line;
    const Current current(context_);
    if (!module_) module_ = module_of(context_);
    if (kernel_ == nullptr)
      check(
          driver().get_function(&kernel_, module_.get(), "parhelion_copy"), "cuModuleGetFunction");
    if (bytes > left_) {
      left_ = 0;
      const auto block = allocate(context_, std::max(bytes, usual_block));
      next_ = reinterpret_cast<const char*>(block.get());
      block_ = {block, next_};
      left_ = std::max(bytes, usual_block);
    }
    place(next_);
    Stream stream = nullptr;
    check(driver().create_stream(&stream, stream_non_blocking), "cuStreamCreate");
    const int copied = driver().copy_to_device(
        reinterpret_cast<Address>(next_), table.data(), table.size(), stream);
    const int waited = driver().synchronize_stream(stream);
    driver().destroy_stream(stream);
    check(copied, "cuMemcpyHtoDAsync");
    check(waited, "cuStreamSynchronize");
    left_ -= bytes;
    return {block_, std::exchange(next_, next_ + bytes)};
  }

 private:
  void take_primary() {
    unsigned flags = 0;
    int active = 0;
    check(driver().get_primary_state(ordinal_, &flags, &active), "cuDevicePrimaryCtxGetState");
    if (active == 0)
      refuse("device ", ordinal_,
          " has no primary context, and the array belongs to none: allocate it by cudaMalloc or "
          "cuMemAlloc");
    check(driver().retain_primary(&context_, ordinal_), "cuDevicePrimaryCtxRetain");
    has_primary_ = true;
  }

  int ordinal_ = -1;
  Context context_ = nullptr;
  bool has_primary_ = false;
  std::shared_ptr<ModuleOfDriver> module_;
  Function kernel_ = nullptr;
  std::shared_ptr<const char> block_;  // of the next small tables
  const char* next_ = nullptr;
  std::size_t left_ = 0;  // bytes from `next_`
};

// Some ops of a level, and the program's numbers of their bases.
struct Part {
  Launch launch{};
  std::vector<int> src_bases, dst_bases;
};

// Lists by their place on the host, and where they are on the device. Negative: minus the offset
// in a table that has no place yet.
using Lists = std::map<std::pair<const void*, byte_count>, long long>;

struct Compiled {
  std::vector<Part> parts;  // run in order
  std::shared_ptr<const Device> device;
  std::shared_ptr<const char> table;
  Lists lists;
};

class Compiler {
 public:
  Compiler(const Program& program, const std::vector<const void*>& repeated) {
    for (const void* each : repeated) {
      const Lists& theirs = static_cast<const Compiled*>(each)->lists;
      lists.insert(theirs.begin(), theirs.end());
    }
    const Levels levels = levels_of(program);
    for (const Program& level : levels.levels) {
      for (const StridedOp& op : level.strided) add(op);
      for (const IndexedOp& op : level.indexed) add(op);
      for (const RunsOp& op : level.runs) add(op);
      close();
    }
    has_own_lists_ =
        program.dependence != Dependence::none && !(program.runs.empty() && levels.lists.empty());
  }
  std::vector<Part> parts;
  std::vector<char> table;
  Lists lists;

  void place(const char* table_there) {
    const auto move = [&](long long& list) {
      if (list < 0) list = reinterpret_cast<long long>(table_there) - list;
    };
    for (Part& part : parts) {
      part.launch.table = table_there;
      Op* const ops = reinterpret_cast<Op*>(table.data() + part.launch.ops);
      for (Op* op = ops; op < ops + part.launch.count; ++op)
        for (long long* list : {&op->src_list, &op->dst_list, &op->runs}) move(*list);
    }
    for (auto& [list, at] : lists) move(at);
    if (has_own_lists_) lists.clear();  // their places on the host are free now
  }

 private:
  template <class T>
  long long append(const T* values, std::size_t count) {
    if (table.empty()) table.resize(16);  // offset 0 means none
    table.resize((table.size() + 15) / 16 * 16);
    const std::size_t at = table.size();
    const auto* const first = reinterpret_cast<const char*>(values);
    table.insert(table.end(), first, first + count * sizeof(T));
    return static_cast<long long>(at);
  }
  // Appends each list once.
  template <class Append>
  long long at(const void* list, byte_count count, Append&& append) {
    if (list == nullptr) return 0;
    const auto [known, is_new] = lists.try_emplace({list, count}, 0);
    if (is_new) known->second = -append();
    return known->second;
  }
  long long at(const local_index* list, byte_count count) {
    return at(list, count, [&] { return append(list, static_cast<std::size_t>(count)); });
  }

  template <class From>
  static Op op_at(const From& from, byte_count width) {
    Op op{};
    op.src = from.src, op.dst = from.dst, op.width = width;
    op.scalar = static_cast<int>(from.scalar);
    return op;
  }
  void add(const StridedOp& from) {
    Op op = op_at(from, from.width);
    op.dims = from.dims;
    op.negated = from.negated;
    for (std::size_t d = 0; d < StridedOp::most_dims; ++d) {
      op.count[d] = from.count[d];
      op.src_stride[d] = from.src_stride[d];
      op.dst_stride[d] = from.dst_stride[d];
    }
    add(from, op);
  }
  void add(const IndexedOp& from) {
    Op op = op_at(from, from.width);
    op.dims = 1;
    op.count[0] = from.count;
    op.src_stride[0] = from.src_stride;
    op.dst_stride[0] = from.dst_stride;
    op.src_list = at(from.src_list, from.count);
    op.dst_list = at(from.dst_list, from.count);
    add(from, op);
  }
  void add(const RunsOp& from) {
    std::vector<RunItem> items;
    long long first = 0;
    for (const Run& run : from.runs) {
      items.push_back({run.src, run.dst, run.bytes, first});
      first += chunks_of(run.bytes);
    }
    Op op = op_at(from, 0);
    op.count[0] = static_cast<long long>(items.size());
    op.runs = at(from.runs.data(), op.count[0], [&] { return append(items.data(), items.size()); });
    add(from, op, first);
  }
  template <class From>
  void add(const From& from, Op op) {
    op.chunks = chunks_of(op.width);
    long long items = op.chunks;
    for (int d = 0; d < op.dims; ++d) items *= op.count[d];
    add(from, op, items);
  }
  template <class From>
  void add(const From& from, Op op, long long items) {
    if (part_.src_bases.size() + part_.dst_bases.size() + 2 > Launch::most_bases) close();
    op.src_base = number_in(part_.src_bases, from.src_base);
    op.dst_base = number_in(part_.dst_bases, from.dst_base);
    op.first = std::exchange(part_.launch.items, part_.launch.items + items);
    ops_.push_back(op);
  }
  static long long chunks_of(byte_count bytes) { return (bytes + chunk - 1) / chunk; }
  static int number_in(std::vector<int>& bases, int base) {
    const auto found = std::find(bases.begin(), bases.end(), base);
    if (found != bases.end()) return static_cast<int>(found - bases.begin());
    bases.push_back(base);
    return static_cast<int>(bases.size()) - 1;
  }
  // Numbers destinations after all sources.
  void close() {
    if (ops_.empty()) return;
    for (Op& op : ops_) op.dst_base += static_cast<int>(part_.src_bases.size());
    part_.launch.count = static_cast<int>(ops_.size());
    part_.launch.ops = append(ops_.data(), ops_.size());
    parts.push_back(std::exchange(part_, {}));
    ops_.clear();
  }

  bool has_own_lists_;
  Part part_;
  std::vector<Op> ops_;
};

// An own stream, or one of the program, whose pending work is unknown.
class DeviceQueue final : public Queue {
 public:
  explicit DeviceQueue(std::shared_ptr<const Device> device) : device_(std::move(device)) {
    if (!device_) return;
    context_ = device_->context();
    const Current current(context_);
    check(driver().create_stream(&stream_, stream_non_blocking), "cuStreamCreate");
  }
  DeviceQueue(Context context, Stream stream)
      : context_(context), stream_(stream), is_own_(false) {}
  ~DeviceQueue() override {
    if (context_ == nullptr) return;
    at_end(context_, [&] {
      if (is_own_) driver().synchronize_stream(stream_);
      for (const auto& [number, event] : recorded_) driver().destroy_event(event);
      for (EventHandle event : spare_) driver().destroy_event(event);
      if (is_own_) driver().destroy_stream(stream_);
    });
  }

  void enqueue(const Program& program, Bases src, Bases dst, Reduction reduction) override {
    const auto* const compiled = static_cast<const Compiled*>(program.compiled.get());
    if (compiled == nullptr) return;  // an empty program
    const Current current(context_);
    for (const Part& part : compiled->parts) {
      Launch launch = part.launch;
      launch.reduction = reduction.kind();
      char** base = launch.base;
      for (const int each : part.src_bases) *base++ = reinterpret_cast<char*>(src[each]);
      for (const int each : part.dst_bases) *base++ = reinterpret_cast<char*>(dst[each]);
      const auto blocks = static_cast<unsigned>(std::min<long long>(
          (launch.items + threads_of_block - 1) / threads_of_block, most_blocks));
      void* parameters[1] = {&launch};
      check(driver().launch(compiled->device->kernel(), blocks, 1, 1, threads_of_block, 1, 1, 0,
                stream_, parameters, nullptr),
          "cuLaunchKernel");
      is_recorded_ = false;
    }
  }
  Event record() override {
    if (context_ == nullptr) return {};
    if (is_own_ && is_recorded_) return {recorded_.empty() ? 0 : last_};
    if (!is_own_) has_passed(last_);  // nobody else asks for the events of a program's stream
    const Current current(context_);
    check(driver().record_event(spare(), stream_), "cuEventRecord");
    recorded_.emplace_back(++last_, spare_.back());
    spare_.pop_back();
    is_recorded_ = true;
    return {last_};
  }
  void follow(Queue& other) override {
    auto* const queue = dynamic_cast<DeviceQueue*>(&other);
    if (queue == nullptr) return other.wait();
    if (queue == this || context_ == nullptr) return;
    if (queue->record().number == 0) return;
    const Current current(context_);
    check(driver().wait_event(stream_, queue->recorded_.back().second, 0), "cuStreamWaitEvent");
    is_recorded_ = false;
  }
  void follow_program() override {
    if (context_ == nullptr) return;
    const Current current(context_);
    const int status = driver().synchronize();
    if (is_of_capture(status)) refuse(in_capture);
    check(status, "cuCtxSynchronize");
  }
  // An own stream is never captured, but capturing others may forbid to query its events. Other
  // errors are left to later calls: they end an exchange, and a refusal does not.
  std::string refusal() override {
    if (context_ == nullptr) return {};
    int captured = 0, status = success;
    try {
      const Current current(context_);
      status = driver().is_capturing(is_own_ ? nullptr : stream_, &captured);
      if (status == success && is_own_) status = driver().query_event(spare());
    } catch (const Error&) {  // of the context, or of the event
    }
    return captured != 0 || is_of_capture(status) ? in_capture : "";
  }

 private:
  // Requires the context to be current.
  EventHandle spare() {
    if (spare_.empty()) {
      EventHandle made = nullptr;
      check(driver().create_event(&made, event_without_timing), "cuEventCreate");
      spare_.push_back(made);
    }
    return spare_.back();
  }
  bool has_passed(std::uint64_t number) override {
    if (recorded_.empty() || recorded_.front().first > number) return true;
    const Current current(context_);
    while (!recorded_.empty()) {
      const int status = driver().query_event(recorded_.front().second);
      if (status == not_ready) break;
      check(status, "cuEventQuery");
      spare_.push_back(recorded_.front().second);  // complete: reusable
      recorded_.pop_front();
    }
    return recorded_.empty() || recorded_.front().first > number;
  }

  const std::shared_ptr<const Device> device_;
  Context context_ = nullptr;  // null on a rank without arrays
  Stream stream_ = nullptr;
  const bool is_own_ = true;
  std::deque<std::pair<std::uint64_t, EventHandle>> recorded_;  // not known to be complete
  std::vector<EventHandle> spare_;
  std::uint64_t last_ = 0;
  bool is_recorded_ = true;  // the last event covers all work of this queue
};

class DeviceExecutor final : public Executor {
 public:
  explicit DeviceExecutor(const std::byte* array) {
    static_cast<void>(driver());
    if (array != nullptr) device_ = std::make_shared<Device>(array);
  }

  void compile(Program& program) override { compile(program, {}); }
  void compile(Program& program, const std::vector<const void*>& repeated) {
    program.compiled = nullptr;
    if (program.empty()) return;
    if (!device_) throw std::logic_error("a program of a rank without arrays has copies");
    Compiler made(program, repeated);
    auto table = device_->upload(made.table, [&](const char* there) { made.place(there); });
    program.compiled = std::make_shared<const Compiled>(
        std::move(made.parts), device_, std::move(table), std::move(made.lists));
  }
  std::shared_ptr<Queue> make_queue() override { return std::make_shared<DeviceQueue>(device_); }

  // Page-locked memory, which has the same address on the device.
  std::shared_ptr<std::byte> allocate(byte_count bytes) override {
    if (!device_ || bytes == 0) return {allocate_aligned(bytes).release(), FreeBytes()};
    const Current current(device_->context());
    void* memory = nullptr;
    const int status =
        driver().allocate_host(&memory, static_cast<std::size_t>(bytes), host_memory_portable);
    if (status == out_of_memory) throw std::bad_alloc();
    check(status, "cuMemHostAlloc");
    return {static_cast<std::byte*>(memory), [device = device_](std::byte* first) {
              at_end(device->context(), [&] {
                driver().synchronize();  // copies may be pending
                driver().free_host(first);
              });
            }};
  }
  std::shared_ptr<std::byte> allocate_on_device(byte_count bytes) {
    if (!device_ || bytes == 0) return allocate(bytes);
    using Kept = std::pair<std::shared_ptr<Device>, std::shared_ptr<std::byte>>;  // context, memory
    const auto kept = std::make_shared<Kept>(
        device_, device::allocate(device_->context(), static_cast<std::size_t>(bytes)));
    return {kept, kept->second.get()};
  }
  std::string description() const override {
    return device_ ? "a kernel on device " + std::to_string(device_->ordinal()) +
                         ", messages in page-locked memory"
                   : "nobody: this rank has no arrays";
  }
  bool reaches_host() const override { return false; }
  std::string refusal(Reduction reduction) const override {
    return reduction.by() == nullptr
               ? ""
               : "a reduction that the program defines does not run on a device: use one of "
                 "the library's, or arrays in the host's memory";
  }

 private:
  std::shared_ptr<Device> device_;
};

}  // namespace
}  // namespace device

std::shared_ptr<Executor> make_device_executor(const std::byte* array) {
  return std::make_shared<device::DeviceExecutor>(array);
}

void compile_repeating(
    Executor& executor, Program& program, const std::vector<const void*>& repeated) {
  auto* const on_device = dynamic_cast<device::DeviceExecutor*>(&executor);
  on_device != nullptr ? on_device->compile(program, repeated) : executor.compile(program);
}

std::shared_ptr<std::byte> allocate_on_device(Executor& executor, byte_count bytes) {
  auto* const on_device = dynamic_cast<device::DeviceExecutor*>(&executor);
  return on_device != nullptr ? on_device->allocate_on_device(bytes) : executor.allocate(bytes);
}

std::shared_ptr<Queue> queue_of_stream(void* stream, const void* array) {
  using namespace device;
  constexpr std::uintptr_t last_default = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  Context context = nullptr;
  auto* const handle = static_cast<Stream>(stream);
  if (reinterpret_cast<std::uintptr_t>(stream) > last_default)
    check(driver().context_of_stream(handle, &context), "cuStreamGetCtx");
  else if (device_of(array) >= 0) context = Device(static_cast<const std::byte*>(array)).context();
  else check(driver().get_context(&context), "cuCtxGetCurrent");
  if (context == nullptr)
    refuse(
        "the default stream belongs to the current context, and there is none: make one "
        "current, by cudaSetDevice or cuCtxSetCurrent");
  return std::make_shared<DeviceQueue>(context, handle);
}

}  // namespace parhelion

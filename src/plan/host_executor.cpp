// Host executor: copies synchronously, with one thread or a team.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "parhelion/core/aligned.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/copy_team.hpp"
#include "plan/device/device_executor.hpp"
#include "plan/kernels.hpp"

namespace parhelion {
namespace {

// Smaller copies take about as long as waking and joining the team.
constexpr byte_count worth_sharing = 128 << 10;
constexpr byte_count cache_line = 64;

byte_count share_of(byte_count count, int part, int parts) { return count * part / parts; }

// Some slices may be empty. Cuts the width at multiples of a cache line.
StridedOp slice_of_width(StridedOp op, int part, int parts) {
  const byte_count lines = (op.width + cache_line - 1) / cache_line;
  const byte_count from = share_of(lines, part, parts) * cache_line,
                   to = std::min(share_of(lines, part + 1, parts) * cache_line, op.width);
  op.src += from;
  op.dst += from;
  op.width = std::max<byte_count>(to - from, 0);
  return op;
}

StridedOp slice(const StridedOp& op, int part, int parts) {
  const auto d = std::max_element(op.count.begin(), op.count.begin() + op.dims) - op.count.begin();
  if (op.dims == 0 || op.count[d] < parts) return slice_of_width(op, part, parts);
  StridedOp mine = op;
  const byte_count from = share_of(op.count[d], part, parts);
  mine.count[d] = share_of(op.count[d], part + 1, parts) - from;
  mine.src += from * op.src_stride[d];
  mine.dst += from * op.dst_stride[d];
  return mine;
}

IndexedOp slice(const IndexedOp& op, int part, int parts) {
  IndexedOp mine = op;
  const byte_count from = share_of(op.count, part, parts);
  mine.count = share_of(op.count, part + 1, parts) - from;
  if (op.src_list != nullptr) mine.src_list += from;
  else mine.src += from * op.src_stride;
  if (op.dst_list != nullptr) mine.dst_list += from;
  else mine.dst += from * op.dst_stride;
  return mine;
}

void run_slices(const Program& program, int part, int parts, Bases src, Bases dst) {
  const Kernels& use = kernels();
  for (const StridedOp& op : program.strided) run_strided(slice(op, part, parts), src, dst);
  for (const IndexedOp& op : program.indexed) {
    const IndexedOp mine = slice(op, part, parts);
    use.indexed(dst[op.dst_base] + mine.dst, src[op.src_base] + mine.src, mine);
  }
  for (const RunsOp& op : program.runs) {
    const auto runs = static_cast<byte_count>(op.runs.size()), from = share_of(runs, part, parts);
    use.runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data() + from,
        share_of(runs, part + 1, parts) - from);
  }
}

class HostExecutor final : public Executor,
                           public Queue,
                           public std::enable_shared_from_this<HostExecutor> {
 public:
  explicit HostExecutor(std::shared_ptr<CopyTeam> team) : team_(std::move(team)) {}

  // A single thread needs no levels.
  void compile(Program& program) override {
    if (team_ && program.dependence != Dependence::none)
      program.compiled = std::make_shared<const Levels>(levels_of(program));
  }
  std::shared_ptr<Queue> make_queue() override { return shared_from_this(); }
  std::shared_ptr<std::byte> allocate(byte_count bytes) override {
    return {allocate_aligned(bytes).release(), FreeBytes()};
  }
  bool is_immediate() const override { return true; }
  int threads() const override { return team_ ? team_->size() : 1; }

  void enqueue(const Program& program, Bases src, Bases dst, Reduction reduction) override {
    if (reduction != Reduction::replace) return reduce(program, src, dst, reduction);
    if (!team_ || program.bytes() < worth_sharing) return run(program, src, dst);
    if (!program.compiled) return share(program, src, dst);
    for (const Program& level : static_cast<const Levels*>(program.compiled.get())->levels)
      share(level, src, dst);
  }
  Event record() override { return {}; }
  void follow(Queue& other) override {
    if (&other != this) other.wait();
  }

 private:
  bool has_passed(std::uint64_t) override { return true; }
  void share(const Program& program, Bases src, Bases dst) {
    team_->share(
        [&, parts = team_->size()](int part) { run_slices(program, part, parts, src, dst); });
  }

  const std::shared_ptr<CopyTeam> team_;
};

using Make = std::function<std::shared_ptr<Executor>()>;

struct Known {
  std::mutex mutex;
  std::map<MemorySpace, Make> of;
};

Known& known() {
  static auto* const instance = new Known;  // plans use it during exit
  return *instance;
}

}  // namespace

void register_executor(MemorySpace space, std::function<std::shared_ptr<Executor>()> make) {
  const std::lock_guard lock(known().mutex);
  known().of[space] = std::move(make);
}

std::shared_ptr<Executor> make_executor(MemorySpace space, int threads, const std::byte* array) {
  Make make;
  {
    const std::lock_guard lock(known().mutex);
    make = known().of[space];
  }
  if (make) return make();
  if (space == MemorySpace::host) return std::make_shared<HostExecutor>(copy_team(threads));
  return make_device_executor(array);
}

}  // namespace parhelion

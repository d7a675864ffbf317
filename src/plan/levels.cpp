// Finds ops that may run concurrently, from the bytes they read and write.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "parhelion/plan/executor.hpp"
#include "plan/overlap.hpp"

namespace parhelion {
namespace {

// Bytes that an op reads and writes; for lists, from the lowest to the highest.
struct Touched {
  int src_base, dst_base;
  Footprint src, dst;
};

Footprint all_between(byte_count low, byte_count high) { return {low, high - low, 0, {}, {}}; }

Footprint box(byte_count first, const StridedOp& op,
    const std::array<byte_count, StridedOp::most_dims>& stride) {
  return {first, op.width, op.dims, op.count, stride};
}

Footprint cells(byte_count first, byte_count stride, const local_index* list, const IndexedOp& op) {
  if (list == nullptr) return {first, op.width, 1, {op.count}, {stride}};
  const auto [low, high] = std::minmax_element(list, list + op.count);
  const byte_count one = first + *low * stride, other = first + *high * stride;
  return all_between(std::min(one, other), std::max(one, other) + op.width);
}

Footprint runs(byte_count first, const Runs& list, byte_count Run::* side) {
  byte_count low = first + list.data()->*side, high = low;
  for (const Run& run : list)
    low = std::min(low, first + run.*side), high = std::max(high, first + run.*side + run.bytes);
  return all_between(low, high);
}

Touched touched(const StridedOp& op) {
  return {op.src_base, op.dst_base, box(op.src, op, op.src_stride), box(op.dst, op, op.dst_stride)};
}
Touched touched(const IndexedOp& op) {
  return {op.src_base, op.dst_base, cells(op.src, op.src_stride, op.src_list, op),
      cells(op.dst, op.dst_stride, op.dst_list, op)};
}
Touched touched(const RunsOp& op) {
  return {
      op.src_base, op.dst_base, runs(op.src, op.runs, &Run::src), runs(op.dst, op.runs, &Run::dst)};
}

class Cutter {
 public:
  explicit Cutter(const Program& program) : dependence_(program.dependence) {
    for (const StridedOp& op : program.strided) add(op, &Program::strided);
    for (const IndexedOp& op : program.indexed) add_turns(op);
    for (const RunsOp& op : program.runs) add_each(op);
  }
  Levels result;

 private:
  bool depends(const Touched& next, const Touched& before) const {
    const auto meet = [](int base, const Footprint& cells, int other, const Footprint& others) {
      return base == other && overlap(cells, others);
    };
    if (meet(next.dst_base, next.dst, before.dst_base, before.dst)) return true;
    return dependence_ == Dependence::chain &&
           (meet(next.src_base, next.src, before.dst_base, before.dst) ||
               meet(next.dst_base, next.dst, before.src_base, before.src));
  }

  // How often lists of equal cells have named each.
  using Times = std::unordered_map<local_index, std::size_t>;

  struct Placed {
    Touched touched;
    const Times* times;  // null: not of lists
    std::size_t turn, level;
  };

  // `turn`: the time for which a list names all of the op's cells.
  template <class Op>
  void add(const Op& op, std::vector<Op> Program::* kind, const Times* times = nullptr,
      std::size_t turn = 0) {
    const Touched here = touched(op);
    std::size_t level = 0;
    for (const Placed& before : placed_)
      if (before.level >= level &&
          (times != nullptr && times == before.times ? turn > before.turn
                                                     : depends(here, before.touched)))
        level = before.level + 1;
    placed_.push_back({here, times, turn, level});
    if (level == result.levels.size()) result.levels.emplace_back();
    (result.levels[level].*kind).push_back(op);
  }

  // First occurrences of the lists' cells, then second ones, and so on.
  void add_turns(const IndexedOp& op) {
    if (op.dst_list == nullptr || op.count == 0) return add(op, &Program::indexed);
    const bool is_chain = dependence_ == Dependence::chain;
    Times own, &times = is_chain ? own : times_[{op.dst_base, op.dst, op.dst_stride, op.width}];
    const Times* const known = is_chain ? nullptr : &times;
    std::vector<std::vector<byte_count>> turns;
    for (byte_count k = 0; k < op.count; ++k) {
      const std::size_t turn = times[op.dst_list[k]]++;
      if (turn >= turns.size()) turns.resize(turn + 1);
      turns[turn].push_back(k);
    }
    if (std::cmp_equal(turns.back().size(), op.count))
      return add(op, &Program::indexed, known, turns.size() - 1);
    for (const auto& turn : turns) {
      if (turn.empty()) continue;
      auto &src = result.lists.emplace_back(), &dst = result.lists.emplace_back();
      for (const byte_count k : turn) {
        src.push_back(op.src_list != nullptr ? op.src_list[k] : static_cast<local_index>(k));
        dst.push_back(op.dst_list[k]);
      }
      IndexedOp some = op;
      some.count = turn.size(), some.src_list = src.data(), some.dst_list = dst.data();
      add(some, &Program::indexed, known, &turn - turns.data());
    }
  }

  // One op per run: runs that join several rows may overlap runs that start elsewhere.
  void add_each(const RunsOp& op) {
    for (const Run& run : op.runs) {
      RunsOp one{op.src_base, op.dst_base, {}, op.scalar, op.src, op.dst};
      one.runs.add(run);
      add(one, &Program::runs);
    }
  }

  const Dependence dependence_;
  std::vector<Placed> placed_;
  std::map<std::array<byte_count, 4>, Times> times_;
};

}  // namespace

Levels levels_of(const Program& program) {
  if (program.dependence != Dependence::none) return std::move(Cutter(program).result);
  Levels one;
  if (!program.empty()) one.levels.push_back(program), one.levels.back().compiled = nullptr;
  return one;
}

}  // namespace parhelion

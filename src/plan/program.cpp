#include "parhelion/plan/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "plan/kernels.hpp"

namespace parhelion {

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
#if defined(__x86_64__)
    const char* most = std::getenv("PARHELION_KERNELS");  // for comparisons and tests
    const auto wanted = [&](const char* name) {
      return most == nullptr || std::strcmp(most, name) == 0;
    };
    __builtin_cpu_init();
    if (wanted("avx512") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return kernels_avx512;
    if (wanted("avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
      return kernels_avx2;
#endif
    return kernels_baseline;
  }();
  return chosen;
}

const char* copy_kernels_name() { return kernels().name; }

byte_count StridedOp::bytes() const {
  byte_count total = width;
  for (int d = 0; d < dims; ++d) total *= count[d];
  return total;
}

byte_count Program::bytes() const {
  byte_count total = 0;
  for (const auto& op : strided) total += op.bytes();
  for (const auto& op : indexed) total += op.count * op.width;
  for (const auto& op : runs)
    for (const Run& run : op.runs) total += run.bytes;
  return total;
}

Program inverse(const Program& program) {
  Program back = program;
  back.compiled = nullptr;
  const auto turn = [](auto& op) {
    std::swap(op.src_base, op.dst_base);
    std::swap(op.src, op.dst);
    if constexpr (requires { op.src_stride; }) std::swap(op.src_stride, op.dst_stride);
  };
  for (StridedOp& op : back.strided) turn(op);
  for (IndexedOp& op : back.indexed) {
    turn(op);
    std::swap(op.src_list, op.dst_list);
  }
  for (RunsOp& op : back.runs) {
    turn(op);
    Runs turned;
    turned.reserve(op.runs.size());
    for (const Run& run : op.runs) turned.add({run.dst, run.src, run.bytes});
    op.runs = turned;
  }
  return back;
}

byte_count Program::mean_piece() const {
  byte_count pieces = 0;
  for (const auto& op : strided) pieces += op.bytes() / op.width;
  for (const auto& op : indexed)
    pieces += op.dst_list == nullptr && op.dst_stride == op.width ? 1 : op.count;
  for (const auto& op : runs) pieces += static_cast<byte_count>(op.runs.size());
  return pieces == 0 ? 0 : bytes() / pieces;
}

namespace {

// Folds inner dimensions contiguous on both sides into the width; fuses adjacent ones.
StridedOp normalized(const StridedOp& op) {
  struct Dim {
    byte_count count, src, dst;
  };
  std::vector<Dim> dims;
  for (int d = 0; d < op.dims; ++d)
    if (op.count[d] != 1) dims.push_back({op.count[d], op.src_stride[d], op.dst_stride[d]});
  std::ranges::stable_sort(dims, [](const Dim& a, const Dim& b) {
    return std::abs(a.src) + std::abs(a.dst) > std::abs(b.src) + std::abs(b.dst);
  });
  StridedOp result = op;
  while (!dims.empty() && dims.back().src == result.width && dims.back().dst == result.width) {
    result.width *= dims.back().count;
    dims.pop_back();
  }
  for (std::size_t d = dims.size(); d-- > 1;) {
    if (dims[d - 1].src != dims[d].src * dims[d].count ||
        dims[d - 1].dst != dims[d].dst * dims[d].count)
      continue;
    dims[d - 1] = {dims[d - 1].count * dims[d].count, dims[d].src, dims[d].dst};
    dims.erase(dims.begin() + d);
  }
  result.dims = dims.size();
  for (int d = 0; d < result.dims; ++d) {
    result.count[d] = dims[d].count;
    result.src_stride[d] = dims[d].src;
    result.dst_stride[d] = dims[d].dst;
  }
  return result;
}

local_index at(const local_index* list, byte_count k) {
  return list ? list[k] : static_cast<local_index>(k);
}

byte_count count_runs(const IndexedOp& op) {
  byte_count runs = 1;
  for (byte_count k = 1; k < op.count; ++k)
    runs += at(op.src_list, k) != at(op.src_list, k - 1) + 1 ||
            at(op.dst_list, k) != at(op.dst_list, k - 1) + 1;
  return runs;
}

}  // namespace

void Runs::add(const Run& next) {
  if (next.bytes == 0) return;
  std::vector<Run>& list = *list_;
  if (!list.empty() && list.back().src + list.back().bytes == next.src &&
      list.back().dst + list.back().bytes == next.dst)
    list.back().bytes += next.bytes;
  else list.push_back(next);
}

namespace {

RunsOp as_runs(const IndexedOp& op, byte_count expected) {
  RunsOp result{op.src_base, op.dst_base, {}, op.scalar};
  result.runs.reserve(expected);
  for (byte_count k = 0; k < op.count; ++k)
    result.runs.add({op.src + at(op.src_list, k) * op.src_stride,
        op.dst + at(op.dst_list, k) * op.dst_stride, op.width});
  return result;
}

// Consecutive lists become an offset: reading them would double the traffic of small cells.
void drop_list(const local_index*& list, byte_count& offset, byte_count stride, byte_count count) {
  if (list == nullptr || std::adjacent_find(list, list + count, [](local_index a, local_index b) {
        return b != a + 1;
      }) != list + count)
    return;
  offset += list[0] * stride;
  list = nullptr;
}

IndexedOp without_plain_lists(IndexedOp op) {
  drop_list(op.src_list, op.src, op.src_stride, op.count);
  drop_list(op.dst_list, op.dst, op.dst_stride, op.count);
  return op;
}

// Shorter runs are slower: reading an index is cheaper than starting a run.
constexpr byte_count worthwhile_run_bytes = 64;

}  // namespace

void Program::add(const StridedOp& op) {
  if (op.bytes() > 0) strided.push_back(normalized(op));
}

void Program::add_plain(const IndexedOp& op) {
  if (op.count > 0)  // an empty list may belong to a null array
    indexed.push_back(without_plain_lists(op));
}

void Program::add(const IndexedOp& given) {
  if (given.count == 0) return;
  const IndexedOp op = without_plain_lists(given);
  const bool packed = op.src_stride == op.width && op.dst_stride == op.width;
  const byte_count expected = packed ? count_runs(op) : op.count;
  if (expected == 1) {
    StridedOp one{op.src_base, op.dst_base, op.src + at(op.src_list, 0) * op.src_stride,
        op.dst + at(op.dst_list, 0) * op.dst_stride, op.width, 1, {op.count}, {op.src_stride},
        {op.dst_stride}, op.scalar};
    add(one);
  } else if (packed && op.count * op.width >= worthwhile_run_bytes * expected) {
    runs.push_back(as_runs(op, expected));
  } else {
    indexed.push_back(op);
  }
}

void run_strided(const StridedOp& op, Bases src_bases, Bases dst_bases) {
  run_strided(op, src_bases, dst_bases, copying(kernels(), op));
}

void run_strided(const StridedOp& op, Bases src_bases, Bases dst_bases, const Loops& use) {
  static constexpr byte_count none[2] = {0, 0};
  std::byte* dst = dst_bases[op.dst_base] + op.dst;
  const std::byte* src = src_bases[op.src_base] + op.src;
  if (op.dims == 0) return use.strided(dst, src, 1, 1, none, none, op.width);
  if (op.dims == 1) {
    const byte_count ds[2] = {0, op.dst_stride[0]}, ss[2] = {0, op.src_stride[0]};
    return use.strided(dst, src, 1, op.count[0], ds, ss, op.width);
  }
  const int outer = op.dims - 2;
  for_outer(op, outer, dst, src, [&](std::byte* to, const std::byte* from) {
    use.strided(to, from, op.count[outer], op.count[outer + 1], &op.dst_stride[outer],
        &op.src_stride[outer], op.width);
  });
}

void run(const Program& program, Bases src, Bases dst) {
  const Kernels& use = kernels();
  for (const StridedOp& op : program.strided) run_strided(op, src, dst, copying(use, op));
  for (const IndexedOp& op : program.indexed)
    use.indexed(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op);
  for (const RunsOp& op : program.runs)
    use.runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data(),
        static_cast<byte_count>(op.runs.size()));
}

namespace {

bool one_piece(const Program& program) {
  return program.strided.size() == 1 && program.indexed.empty() && program.runs.empty() &&
         program.strided[0].dims == 0 && !program.strided[0].negated;
}

}  // namespace

Contiguous contiguous_source(const Program& program) {
  if (!one_piece(program)) return {};
  const StridedOp& op = program.strided[0];
  return {op.src_base, op.src, op.bytes()};
}

Contiguous contiguous_destination(const Program& program) {
  if (!one_piece(program)) return {};
  const StridedOp& op = program.strided[0];
  return {op.dst_base, op.dst, op.bytes()};
}

}  // namespace parhelion

// destination = destination ⊕ source, in program order, so that repeated runs give the same bits.
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "parhelion/core/error.hpp"
#include "plan/kernels.hpp"

namespace parhelion {

bool supports(Reduction reduction, Scalar scalar) {
  return reduction == Reduction::replace || kernels().combining(scalar, reduction) != nullptr;
}

namespace {

std::string remedy(const Element& element, Reduction reduction) {
  if (reduction.by() != nullptr)
    return "it is for " + to_string(reduction.by()->element()) +
           ": define one for these elements (reduction_of), or view the array as such";
  if (element.scalar == Scalar::complex64 || element.scalar == Scalar::complex128)
    return "complex numbers have no order and no bits: use sum, prod, replace, a reduction of "
           "your own (reduction_of), or combine real "
           "and "
           "imaginary parts as two components";
  return "use replace, a reduction of your own (reduction_of), or a type that can be added and "
         "compared";
}

}  // namespace

std::string to_string(Reduction reduction) {
#define PARHELION_TEXT(name, ...) #name,
  static constexpr const char* names[] = {PHL_REDUCTIONS(PARHELION_TEXT) "the program's own"};
#undef PARHELION_TEXT
  return names[reduction.kind()];
}

void require_reducible(const Element& element, Reduction reduction) {
  const bool possible = reduction.by() != nullptr ? reduction.by()->element() == element
                                                  : supports(reduction, element.scalar);
  if (!possible)
    throw Error("elements of type " + to_string(element) + " cannot be combined in this way (" +
                    to_string(reduction) + "): " + remedy(element, reduction),
        ErrorKind::type);
}

namespace {

byte_count target(const IndexedOp& op, byte_count k) {
  return (op.dst_list ? op.dst_list[k] : k) * op.dst_stride;
}
byte_count source(const IndexedOp& op, byte_count k) {
  return (op.src_list ? op.src_list[k] : k) * op.src_stride;
}

// Batches end before the first repeated cell.
void combine_together(
    const UserReduction& by, const IndexedOp& op, std::byte* dst, const std::byte* src) {
  const auto to = [&](byte_count k) { return dst + target(op, k); };
  const auto width = static_cast<std::size_t>(op.width);
  std::vector<std::byte> left, right;
  std::unordered_set<byte_count> seen;
  for (byte_count first = 0, k = 0; first < op.count; first = k) {
    for (seen.clear(); k < op.count && seen.insert(target(op, k)).second;) ++k;
    const byte_count bytes = (k - first) * op.width;
    left.resize(bytes), right.resize(bytes);
    for (byte_count i = first; i < k; ++i) {
      std::memcpy(left.data() + (i - first) * op.width, to(i), width);
      std::memcpy(right.data() + (i - first) * op.width, src + source(op, i), width);
    }
    by.combine(left.data(), right.data(), bytes);
    for (byte_count i = first; i < k; ++i)
      std::memcpy(to(i), left.data() + (i - first) * op.width, width);
  }
}

void run_row(const Loops& use, std::byte* dst, const std::byte* src, byte_count bytes) {
  static constexpr byte_count none[2] = {0, 0};
  use.strided(dst, src, 1, 1, none, none, bytes);
}

// Negates whole elements of `size` bytes into a buffer first.
template <class Combine>
void reduce_negated(const StridedOp& op, std::byte* dst, const std::byte* src, byte_count size,
    const Combine& combine) {
  alignas(64) std::byte values[largest_signed_element];
  const byte_count most = largest_signed_element / size * size;
  for_outer(op, op.dims, dst, src, [&](std::byte* to, const std::byte* from) {
    for (byte_count done = 0; done < op.width; done += most) {
      const byte_count bytes = std::min(most, op.width - done);
      run_row(copying(kernels(), op), values, from + done, bytes);
      combine(to + done, values, bytes);
    }
  });
}

void reduce_by_user(const Program& program, Bases src, Bases dst, const UserReduction& by) {
  const auto combine = [&](std::byte* into, const std::byte* values, byte_count bytes) {
    by.combine(into, values, bytes);
  };
  for (const StridedOp& op : program.strided) {
    std::byte* const to = dst[op.dst_base] + op.dst;
    const std::byte* const from = src[op.src_base] + op.src;
    if (op.negated) reduce_negated(op, to, from, by.element().size, combine);
    else
      for_outer(op, op.dims, to, from,
          [&](std::byte* into, const std::byte* values) { by.combine(into, values, op.width); });
  }
  for (const IndexedOp& op : program.indexed) {
    std::byte* const to = dst[op.dst_base] + op.dst;
    const std::byte* const from = src[op.src_base] + op.src;
    if (by.wants_many()) combine_together(by, op, to, from);
    else
      for (byte_count k = 0; k < op.count; ++k)
        by.combine(to + target(op, k), from + source(op, k), op.width);
  }
  for (const RunsOp& op : program.runs)
    for (const Run& run : op.runs)
      by.combine(
          dst[op.dst_base] + op.dst + run.dst, src[op.src_base] + op.src + run.src, run.bytes);
}

}  // namespace

void reduce(const Program& program, Bases src, Bases dst, Reduction reduction) {
  if (reduction == Reduction::replace) return run(program, src, dst);
  if (reduction.by() != nullptr) return reduce_by_user(program, src, dst, *reduction.by());
  const auto loops = [&, combining = kernels().combining](const auto& op) -> const Loops& {
    return *combining(op.scalar, reduction);
  };
  for (const StridedOp& op : program.strided) {
    if (!op.negated) {
      run_strided(op, src, dst, loops(op));
      continue;
    }
    const auto combine = [&](std::byte* into, const std::byte* values, byte_count bytes) {
      run_row(loops(op), into, values, bytes);
    };
    reduce_negated(
        op, dst[op.dst_base] + op.dst, src[op.src_base] + op.src, size_of(op.scalar), combine);
  }
  for (const IndexedOp& op : program.indexed)
    loops(op).indexed(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op);
  for (const RunsOp& op : program.runs)
    loops(op).runs(dst[op.dst_base] + op.dst, src[op.src_base] + op.src, op.runs.data(),
        static_cast<byte_count>(op.runs.size()));
}

}  // namespace parhelion

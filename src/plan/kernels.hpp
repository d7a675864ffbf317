// Inner loops, compiled once per instruction set; the best is chosen when the library is loaded.
#pragma once

#include "parhelion/plan/program.hpp"

namespace parhelion {

struct Loops {
  /// `planes` × `rows` pieces of `width` bytes; stride index 0 is the plane, 1 the row.
  void (*strided)(std::byte* dst, const std::byte* src, byte_count planes, byte_count rows,
      const byte_count* dst_stride, const byte_count* src_stride, byte_count width);
  void (*indexed)(std::byte* dst, const std::byte* src, const IndexedOp& op);
  void (*runs)(std::byte* dst, const std::byte* src, const Run* runs, byte_count count);
};

/// Copy loops, and lookup of combining loops.
struct Kernels : Loops {
  const char* name;
  const Loops* (*combining)(Scalar scalar,
      Reduction reduction);                 ///< null if the type cannot be combined in this way
  const Loops* (*negating)(Scalar scalar);  ///< copies with the sign changed; null for bytes
};

const Kernels& kernels();

inline const Loops& copying(const Kernels& use, const StridedOp& op) {
  return op.negated ? *use.negating(op.scalar) : use;
}

/// body(dst, src) for each point of the `outer` outermost dimensions.
template <class Body>
void for_outer(
    const StridedOp& op, int outer, std::byte* dst, const std::byte* src, Body&& body, int d = 0) {
  if (d >= outer) return body(dst, src);
  for (byte_count i = 0; i < op.count[d]; ++i, dst += op.dst_stride[d], src += op.src_stride[d])
    for_outer(op, outer, dst, src, body, d + 1);
}

/// Largest element whose sign an op can change, in bytes.
constexpr byte_count largest_signed_element = 4096;

/// Runs one op as a copy, or with the given loops.
void run_strided(const StridedOp& op, Bases src, Bases dst);
void run_strided(const StridedOp& op, Bases src, Bases dst, const Loops& use);

/// Products of complex numbers; null for other types. Compiled once: fused multiply-adds of other
/// instruction sets would give other bits.
const Loops* complex_product(Scalar scalar);

extern const Kernels kernels_baseline;
#if defined(__x86_64__)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

}  // namespace parhelion

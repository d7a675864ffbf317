#include <cstring>

#include "plan/kernels.hpp"

namespace parhelion {
namespace {

// Textbook (a + bi)(c + di): std::complex recomputes NaN results, at three times the cost.
template <class T>
void multiply(std::byte* dst, const std::byte* src, byte_count bytes) {
  constexpr auto size = static_cast<byte_count>(2 * sizeof(T));
  for (byte_count i = 0; i < bytes; i += size) {
    T a[2], b[2];
    std::memcpy(a, dst + i, sizeof a);
    std::memcpy(b, src + i, sizeof b);
    const T product[2] = {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
    std::memcpy(dst + i, product, sizeof product);
  }
}

template <class T>
struct Product {
  static void strided(std::byte* dst, const std::byte* src, byte_count planes, byte_count rows,
      const byte_count* ds, const byte_count* ss, byte_count width) {
    for (byte_count p = 0; p < planes; ++p)
      for (byte_count r = 0; r < rows; ++r)
        multiply<T>(dst + p * ds[0] + r * ds[1], src + p * ss[0] + r * ss[1], width);
  }
  static void indexed(std::byte* dst, const std::byte* src, const IndexedOp& op) {
    for (byte_count k = 0; k < op.count; ++k)
      multiply<T>(dst + (op.dst_list ? op.dst_list[k] : k) * op.dst_stride,
          src + (op.src_list ? op.src_list[k] : k) * op.src_stride, op.width);
  }
  static void runs(std::byte* dst, const std::byte* src, const Run* run, byte_count count) {
    for (byte_count k = 0; k < count; ++k)
      multiply<T>(dst + run[k].dst, src + run[k].src, run[k].bytes);
  }
  static constexpr Loops loops{strided, indexed, runs};
};

}  // namespace

const Loops* complex_product(Scalar scalar) {
  if (scalar == Scalar::complex64) return &Product<float>::loops;
  return scalar == Scalar::complex128 ? &Product<double>::loops : nullptr;
}

}  // namespace parhelion

// destination = destination ⊕ source; included once per instruction set, like kernels.inl.
//
// Loops never reassociate, so that all instruction sets give the same bits.

#include "plan/combinations.hpp"
#include "plan/kernels.inl"

namespace parhelion {
namespace {

template <class T, class Operation, byte_count Size>
void combine_vector(Bytes* dst, const Bytes* src) {
  typename Vector<T, Size>::type a, b;
  __builtin_memcpy(&a, dst, Size);
  __builtin_memcpy(&b, src, Size);
  a = Operation::of(a, b);
  __builtin_memcpy(dst, &a, Size);
}

// The last bytes of a row, fewer than `Size`.
template <class T, class Operation, byte_count Size>
void combine_rest(Bytes* dst, const Bytes* src, byte_count bytes) {
  if constexpr (Size > byte_count{sizeof(T)}) {
    constexpr byte_count half = Size / 2;
    const bool fits = bytes >= half;
    if (fits) combine_vector<T, Operation, half>(dst, src);
    combine_rest<T, Operation, half>(
        dst + (fits ? half : 0), src + (fits ? half : 0), bytes - (fits ? half : 0));
  }
}

// Contiguous values: `Width` bytes, or a run-time count if `Width` is 0.
template <class T, class Operation, byte_count Width>
struct CombinedRow {
  static void combine(Bytes* dst, const Bytes* src, byte_count told) {
    const byte_count bytes = Width > 0 ? Width : told;
    byte_count i = 0;
    for (; i + vector_bytes <= bytes; i += vector_bytes)
      combine_vector<T, Operation, vector_bytes>(dst + i, src + i);
    if (i < bytes) combine_rest<T, Operation, vector_bytes>(dst + i, src + i, bytes - i);
  }
};

template <class Row>
void combine_rows(Bytes* dst, const Bytes* src, byte_count planes, byte_count rows,
    const byte_count* ds, const byte_count* ss, byte_count width) {
  const byte_count dst_row = ds[1], src_row = ss[1];
  for (byte_count p = 0; p < planes; ++p, dst += ds[0], src += ss[0])
    for (byte_count r = 0; r < rows; ++r) Row::combine(dst + r * dst_row, src + r * src_row, width);
}

// In the list's order, as often as it names a cell.
template <class Row>
void combine_cells(Bytes* dst, const Bytes* src, const IndexedOp& op) {
  const byte_count ds = op.dst_stride, ss = op.src_stride, width = op.width, count = op.count;
  const local_index* const from = op.src_list;
  const local_index* const to = op.dst_list;
  if (from == nullptr && to != nullptr) {
    byte_count k = 0;
    for (; k + 4 <= count; k += 4) {  // reads indices first: stores might alias them
      const local_index a = to[k], b = to[k + 1], c = to[k + 2], d = to[k + 3];
      Row::combine(dst + a * ds, src + k * ss, width);
      Row::combine(dst + b * ds, src + (k + 1) * ss, width);
      Row::combine(dst + c * ds, src + (k + 2) * ss, width);
      Row::combine(dst + d * ds, src + (k + 3) * ss, width);
    }
    for (; k < count; ++k) Row::combine(dst + to[k] * ds, src + k * ss, width);
  } else
    for (byte_count k = 0; k < count; ++k)
      Row::combine(dst + (to ? to[k] : k) * ds, src + (from ? from[k] : k) * ss, width);
}

// Short rows of small integers are rare.
template <class T, class Operation, class Use>
void with_row(byte_count width, Use use) {
  if (width == byte_count{sizeof(T)}) return use(CombinedRow<T, Operation, sizeof(T)>{});
  if constexpr (sizeof(T) == 4) {
    switch (width) {
      case 12: return use(CombinedRow<T, Operation, 12>{});
      case 20: return use(CombinedRow<T, Operation, 20>{});
      default: break;
    }
  }
  if constexpr (sizeof(T) >= 4) {
    switch (width) {
      case 8: return use(CombinedRow<T, Operation, 8>{});
      case 16: return use(CombinedRow<T, Operation, 16>{});
      case 24: return use(CombinedRow<T, Operation, 24>{});
      case 32: return use(CombinedRow<T, Operation, 32>{});
      case 40: return use(CombinedRow<T, Operation, 40>{});
      case 48: return use(CombinedRow<T, Operation, 48>{});
      case 64: return use(CombinedRow<T, Operation, 64>{});
      case 72: return use(CombinedRow<T, Operation, 72>{});
      default: break;
    }
  }
  use(CombinedRow<T, Operation, 0>{});
}

template <class T, class Operation>
struct Combined {
  static void strided(Bytes* dst, const Bytes* src, byte_count planes, byte_count rows,
      const byte_count* ds, const byte_count* ss, byte_count width) {
    if constexpr (__is_same(Operation, Opposite))
      if (is_mirrored(rows, ds, ss, width) && width <= 2 * byte_count{sizeof(T)})
        return width == sizeof(T) ? Mirrored<T, 1, Opposite>::rows(dst, src, planes, rows, ds, ss)
                                  : Mirrored<T, 2, Opposite>::rows(dst, src, planes, rows, ds, ss);
    with_row<T, Operation>(width,
        [&](auto row) { combine_rows<decltype(row)>(dst, src, planes, rows, ds, ss, width); });
  }
  static void indexed(Bytes* dst, const Bytes* src, const IndexedOp& op) {
    with_row<T, Operation>(op.width, [&](auto row) { combine_cells<decltype(row)>(dst, src, op); });
  }
  static void runs(Bytes* dst, const Bytes* src, const Run* run, byte_count count) {
    for (byte_count k = 0; k < count; ++k)
      CombinedRow<T, Operation, 0>::combine(dst + run[k].dst, src + run[k].src, run[k].bytes);
  }
  static constexpr Loops loops{strided, indexed, runs};
};

template <class T>
const Loops* combine_ordered(Reduction reduction) {
  if (reduction == Reduction::min) return &Combined<T, Min>::loops;
  if (reduction == Reduction::max) return &Combined<T, Max>::loops;
  return nullptr;
}

template <class T>
const Loops* combine_integers(Reduction reduction) {
  using U = std::make_unsigned_t<T>;
  if (reduction == Reduction::sum) return &Combined<U, Sum>::loops;
  if (reduction == Reduction::prod) return &Combined<U, Prod>::loops;
  if (reduction == Reduction::bit_and) return &Combined<U, And>::loops;
  if (reduction == Reduction::bit_or) return &Combined<U, Or>::loops;
  return combine_ordered<T>(reduction);
}

// The sum of complex numbers is a sum of twice as many reals.
template <class T>
const Loops* combine_sum(Reduction reduction) {
  return reduction == Reduction::sum ? &Combined<T, Sum>::loops : nullptr;
}

template <class T>
const Loops* combine_reals(Reduction reduction) {
  if (reduction == Reduction::prod) return &Combined<T, Prod>::loops;
  return reduction == Reduction::sum ? combine_sum<T>(reduction) : combine_ordered<T>(reduction);
}

const Loops* combining(Scalar scalar, Reduction reduction) {
  switch (scalar) {
    case Scalar::bytes: return nullptr;
    case Scalar::int8: return combine_integers<std::int8_t>(reduction);
    case Scalar::int16: return combine_integers<std::int16_t>(reduction);
    case Scalar::int32: return combine_integers<std::int32_t>(reduction);
    case Scalar::int64: return combine_integers<std::int64_t>(reduction);
    case Scalar::uint8: return combine_integers<std::uint8_t>(reduction);
    case Scalar::uint16: return combine_integers<std::uint16_t>(reduction);
    case Scalar::uint32: return combine_integers<std::uint32_t>(reduction);
    case Scalar::uint64: return combine_integers<std::uint64_t>(reduction);
    case Scalar::float32: return combine_reals<float>(reduction);
    case Scalar::float64: return combine_reals<double>(reduction);
    case Scalar::complex64:
      return reduction == Reduction::prod ? complex_product(scalar) : combine_sum<float>(reduction);
    case Scalar::complex128:
      return reduction == Reduction::prod ? complex_product(scalar)
                                          : combine_sum<double>(reduction);
  }
  return nullptr;
}

const Loops* negating(Scalar scalar) {
  switch (scalar) {
    case Scalar::bytes: return nullptr;
    case Scalar::int8:
    case Scalar::uint8: return &Combined<std::uint8_t, Opposite>::loops;
    case Scalar::int16:
    case Scalar::uint16: return &Combined<std::uint16_t, Opposite>::loops;
    case Scalar::int32:
    case Scalar::uint32: return &Combined<std::uint32_t, Opposite>::loops;
    case Scalar::int64:
    case Scalar::uint64: return &Combined<std::uint64_t, Opposite>::loops;
    case Scalar::float32:
    case Scalar::complex64: return &Combined<float, Opposite>::loops;
    case Scalar::float64:
    case Scalar::complex128: return &Combined<double, Opposite>::loops;
  }
  return nullptr;
}

}  // namespace
}  // namespace parhelion

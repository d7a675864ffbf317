// Included once per instruction set. Static functions and builtins only: the linker could use a
// header's inline function, compiled here for newer processors, on older ones.

namespace parhelion {
namespace {

using Bytes = std::byte;

template <byte_count Width>
struct Fixed {
  static void copy(Bytes* dst, const Bytes* src, byte_count) { __builtin_memcpy(dst, src, Width); }
};
struct Any {
  static void copy(Bytes* dst, const Bytes* src, byte_count width) {
    __builtin_memcpy(dst, src, static_cast<unsigned long>(width));
  }
};
// Rows of a few hundred bytes: vectors, without memcpy's call and dispatch.
struct Row {
  static void copy(Bytes* dst, const Bytes* src, byte_count width) {
    byte_count i = 0;
    for (; i + vector_bytes <= width; i += vector_bytes)
      __builtin_memcpy(dst + i, src + i, vector_bytes);
    if (i == width) return;
    if (width >= vector_bytes) {  // the last vector overlaps the one before it
      __builtin_memcpy(dst + width - vector_bytes, src + width - vector_bytes, vector_bytes);
      return;
    }
    for (; i + 8 <= width; i += 8) __builtin_memcpy(dst + i, src + i, 8);
    for (; i < width; ++i) dst[i] = src[i];
  }
};

template <class Use>
void with_piece(byte_count width, Use use) {
  switch (width) {
    case 1: return use(Fixed<1>());
    case 2: return use(Fixed<2>());
    case 4: return use(Fixed<4>());
    case 8: return use(Fixed<8>());
    case 12: return use(Fixed<12>());
    case 16: return use(Fixed<16>());
    case 20: return use(Fixed<20>());
    case 24: return use(Fixed<24>());
    case 32: return use(Fixed<32>());
    case 40: return use(Fixed<40>());
    case 48: return use(Fixed<48>());
    case 64: return use(Fixed<64>());
    case 72: return use(Fixed<72>());
    default:
      if (width <= 1024) return use(Row());
      return use(Any());
  }
}

template <class Piece>
void strided_loop(Bytes* dst, const Bytes* src, byte_count planes, byte_count rows,
    const byte_count* ds, const byte_count* ss, byte_count width) {
  const byte_count dst_row = ds[1], src_row = ss[1];
  for (byte_count p = 0; p < planes; ++p, dst += ds[0], src += ss[0]) {
    Bytes* to = dst;
    const Bytes* from = src;
    for (byte_count r = 0; r < rows; ++r, to += dst_row, from += src_row)
      Piece::copy(to, from, width);
  }
}

template <class T, byte_count Size>
struct Vector {
  using type __attribute__((vector_size(Size))) = T;
};
template <class T>
struct Vector<T, byte_count{sizeof(T)}> {
  using type = T;
};

// A row that runs backward in one array, as across a fold: elements of `Parts` values, four vectors
// at a time.
template <class T, int Parts, class Change>
struct Mirrored {
  static constexpr byte_count element = byte_count{sizeof(T)} * Parts;

  template <byte_count Size, int... i>
  static void copy(Bytes* dst, const Bytes* src, std::integer_sequence<int, i...>) {
    constexpr int last = sizeof...(i) - Parts;
    typename Vector<T, Size>::type values;
    __builtin_memcpy(&values, src, Size);
    if constexpr (last > 0)
      values = __builtin_shufflevector(values, values, (last - i + 2 * (i % Parts))...);
    values = Change::of(values, values);
    __builtin_memcpy(dst, &values, Size);
  }
  // Reverses `Count` vectors that end at `end`, and advances both pointers.
  template <byte_count Size, int Count = 1>
  static void step(Bytes*& dst, const Bytes*& end) {
    for (int k = 1; k <= Count; ++k, dst += Size)
      copy<Size>(dst, end - k * Size, std::make_integer_sequence<int, Size / sizeof(T)>{});
    end -= Count * Size;
  }

  // The last bytes of a row, fewer than `Size`.
  template <byte_count Size>
  static void rest(Bytes* dst, const Bytes* end, byte_count bytes) {
    if constexpr (Size > element) {
      if ((bytes & Size / 2) != 0) step<Size / 2>(dst, end);
      rest<Size / 2>(dst, end, bytes);
    }
  }

  static void row(Bytes* dst, const Bytes* src, byte_count bytes) {
    constexpr byte_count one = vector_bytes, two = 2 * one, four = 4 * one;
    const Bytes* end = src + bytes;
    for (byte_count left = bytes / four; left > 0; --left) step<one, 4>(dst, end);
    if ((bytes & two) != 0) step<one, 2>(dst, end);
    if ((bytes & one) != 0) step<one>(dst, end);
    if (end != src) rest<one>(dst, end, bytes);
  }

  static void rows(Bytes* dst, const Bytes* src, byte_count planes, byte_count count,
      const byte_count* ds, const byte_count* ss) {
    if (ds[1] < 0) dst += (count - 1) * ds[1];
    else src += (count - 1) * ss[1];
    for (byte_count p = 0; p < planes; ++p, dst += ds[0], src += ss[0])
      row(dst, src, count * element);
  }
};

bool is_mirrored(byte_count rows, const byte_count* ds, const byte_count* ss, byte_count width) {
  return rows > 1 && ds[1] == -ss[1] && (ds[1] == width || ss[1] == width);
}

struct Unchanged {
  static auto of(auto a, decltype(a) b) { return b; }
};

// False if rows are not mirrored, or no loop has this width.
bool copy_mirrored(Bytes* dst, const Bytes* src, byte_count planes, byte_count rows,
    const byte_count* ds, const byte_count* ss, byte_count width) {
  if (!is_mirrored(rows, ds, ss, width)) return false;
  const auto with = [&](auto loop) { loop.rows(dst, src, planes, rows, ds, ss); };
  switch (width) {
    case 1: with(Mirrored<std::uint8_t, 1, Unchanged>()); return true;
    case 2: with(Mirrored<std::uint16_t, 1, Unchanged>()); return true;
    case 4: with(Mirrored<std::uint32_t, 1, Unchanged>()); return true;
    case 8: with(Mirrored<std::uint64_t, 1, Unchanged>()); return true;
    case 16: with(Mirrored<std::uint64_t, 2, Unchanged>()); return true;
    default: return false;
  }
}

void strided(Bytes* dst, const Bytes* src, byte_count planes, byte_count rows, const byte_count* ds,
    const byte_count* ss, byte_count width) {
  if (copy_mirrored(dst, src, planes, rows, ds, ss, width)) return;
  with_piece(width,
      [&](auto piece) { strided_loop<decltype(piece)>(dst, src, planes, rows, ds, ss, width); });
}

// A constant for contiguous cells saves the multiplication.
template <byte_count Constant>
struct Stride {
  explicit Stride(byte_count) {}
  static constexpr byte_count value = Constant;
};
template <>
struct Stride<0> {
  explicit Stride(byte_count stride) : value(stride) {}
  byte_count value;
};

// Keeps the loop within a 32-byte window: some Intel processors decode a branch across its end on
// each pass (erratum SKX102): 35 % slower gathers. Padding costs short loops more.
#if defined(__GNUC__) && !defined(__clang__)
#define PHL_ALIGNED_LOOP gnu::noinline, gnu::optimize("align-loops=32")
#else
#define PHL_ALIGNED_LOOP gnu::noinline
#endif
template <class Piece, byte_count Constant, bool SrcList, bool DstList>
[[PHL_ALIGNED_LOOP]]
void indexed_loop(Bytes* dst, const Bytes* src, const IndexedOp& op) {
  const Stride<Constant> ss(op.src_stride), ds(op.dst_stride);
  const byte_count width = op.width, count = op.count;
  const local_index* from = op.src_list;
  const local_index* to = op.dst_list;
  for (byte_count k = 0; k < count; ++k)
    Piece::copy(
        dst + (DstList ? to[k] : k) * ds.value, src + (SrcList ? from[k] : k) * ss.value, width);
}

template <class Piece, byte_count Constant>
void indexed_sides(Bytes* dst, const Bytes* src, const IndexedOp& op) {
  if (op.src_list && op.dst_list) return indexed_loop<Piece, Constant, true, true>(dst, src, op);
  if (op.src_list) return indexed_loop<Piece, Constant, true, false>(dst, src, op);
  if (op.dst_list) return indexed_loop<Piece, Constant, false, true>(dst, src, op);
  return indexed_loop<Piece, Constant, false, false>(dst, src, op);
}

template <byte_count Width>
void indexed_piece(Bytes* dst, const Bytes* src, const IndexedOp& op, Fixed<Width>) {
  if (op.src_stride == Width && op.dst_stride == Width)
    return indexed_sides<Fixed<Width>, Width>(dst, src, op);
  return indexed_sides<Fixed<Width>, 0>(dst, src, op);
}
template <class Piece>
void indexed_piece(Bytes* dst, const Bytes* src, const IndexedOp& op, Piece) {
  indexed_sides<Piece, 0>(dst, src, op);
}

void indexed(Bytes* dst, const Bytes* src, const IndexedOp& op) {
  with_piece(op.width, [&](auto piece) { indexed_piece(dst, src, op, piece); });
}

// Runs often span a few cells: calling memcpy for each would cost more than the copy.
void runs(Bytes* dst, const Bytes* src, const Run* run, byte_count count) {
  for (byte_count k = 0; k < count; ++k) {
    if (run[k].bytes <= 1024) Row::copy(dst + run[k].dst, src + run[k].src, run[k].bytes);
    else Any::copy(dst + run[k].dst, src + run[k].src, run[k].bytes);
  }
}

}  // namespace
}  // namespace parhelion

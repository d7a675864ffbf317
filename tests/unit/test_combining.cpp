// Loops of every instruction set give the bits of the scalar loop.
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "plan/kernels.hpp"
#include "support/cases.hpp"
#include "support/values.hpp"

using namespace parhelion;

namespace {

constexpr Scalar all_scalars[] = {Scalar::int8, Scalar::int16, Scalar::int32, Scalar::int64,
    Scalar::uint8, Scalar::uint16, Scalar::uint32, Scalar::uint64, Scalar::float32, Scalar::float64,
    Scalar::complex64, Scalar::complex128};
constexpr Reduction all_reductions[] = {Reduction::sum, Reduction::min, Reduction::max,
    Reduction::bit_and, Reduction::bit_or, Reduction::prod};

std::vector<const Kernels*> kernels_here() {
  std::vector<const Kernels*> found{&kernels_baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
    found.push_back(&kernels_avx2);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    found.push_back(&kernels_avx512);
#endif
  return found;
}

// Documented semantics: the destination stays unchanged if the comparison is false.
template <class T>
T combined(T a, T b, Reduction reduction) {
  if (reduction == Reduction::sum) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
  if (reduction == Reduction::prod) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(std::uint64_t(a) * std::uint64_t(b));
    else if constexpr (std::is_floating_point_v<T>) return a * b;
    else
      return T(
          a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (reduction == Reduction::min) return b < a ? b : a;
    if (reduction == Reduction::max) return a < b ? b : a;
  }
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(reduction == Reduction::bit_and ? a & b : a | b);
  return a;
}

using Bytes = std::vector<std::byte>;

template <class T>
void expect_values(Bytes& dst, byte_count to, const Bytes& src, byte_count from, byte_count bytes,
    Reduction reduction) {
  for (byte_count i = 0; i < bytes; i += static_cast<byte_count>(sizeof(T))) {
    T a, b;
    std::memcpy(&a, dst.data() + to + i, sizeof a);
    std::memcpy(&b, src.data() + from + i, sizeof b);
    a = combined(a, b, reduction);
    std::memcpy(dst.data() + to + i, &a, sizeof a);
  }
}

void expect(Bytes& dst, byte_count to, const Bytes& src, byte_count from, byte_count bytes,
    Scalar scalar, Reduction reduction) {
  test::with_type(
      {scalar, 0}, [&]<class T>(T) { expect_values<T>(dst, to, src, from, bytes, reduction); });
}

// Sums and products of two NaNs may have the bits of either.
bool equal(Bytes a, const Bytes& b, Scalar scalar, Reduction reduction) {
  const auto no_numbers_alike = [&]<class T>(T) {
    for (std::size_t i = 0; i + sizeof(T) <= a.size(); i += sizeof(T)) {
      T x, y;
      std::memcpy(&x, a.data() + i, sizeof x);
      std::memcpy(&y, b.data() + i, sizeof y);
      if (x != x && y != y) std::memcpy(a.data() + i, &y, sizeof y);
    }
  };
  const bool may_differ = reduction == Reduction::sum || reduction == Reduction::prod;
  if (may_differ && (scalar == Scalar::float32 || scalar == Scalar::complex64))
    no_numbers_alike(float{});
  if (may_differ && (scalar == Scalar::float64 || scalar == Scalar::complex128))
    no_numbers_alike(double{});
  return a == b;
}

template <class T>
void put(Bytes& bytes, T value, std::size_t at) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Values of all magnitudes; for floats also both zeros, infinities, and NaN on alternating sides.
template <class T>
void fill_floats(Bytes& bytes, std::uint64_t salt) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0), -T(0), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
      Limits::max(), Limits::quiet_NaN()};
  for (std::size_t i = 0; (i + 1) * sizeof(T) <= bytes.size(); ++i) {
    const std::uint64_t mixed = (i * 2654435761u + salt * 40503u) >> 3;
    const bool no_number = i % 2 == salt % 2;
    const T value = mixed % 4 == 0 ? special[mixed / 4 % (no_number ? 7 : 6)]
                                   : static_cast<T>(static_cast<double>(mixed % 10007) / 7 - 700);
    put(bytes, value, i * sizeof(T));
  }
}

Bytes some_bytes(std::size_t size, Scalar scalar, std::uint64_t salt) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 2654435761u + salt * 977) >> 5);
  if (scalar == Scalar::float32 || scalar == Scalar::complex64) fill_floats<float>(bytes, salt);
  if (scalar == Scalar::float64 || scalar == Scalar::complex128) fill_floats<double>(bytes, salt);
  return bytes;
}

// Calls check(loops, scalar, reduction, what) for all valid combinations.
template <class Check>
void for_all(Check check) {
  for (const Kernels* each : kernels_here())
    for (const Scalar scalar : all_scalars)
      for (const Reduction reduction : all_reductions) {
        const Loops* loops = each->combining(scalar, reduction);
        EXPECT_EQ(loops != nullptr, supports(reduction, scalar));
        if (loops == nullptr) continue;
        CAPTURE(std::string(each->name));
        CAPTURE(to_string(Element{scalar, static_cast<std::int32_t>(size_of(scalar))}));
        CAPTURE(to_string(reduction));
        check(*loops, scalar, reduction);
      }
}

}  // namespace

CASE("what can be combined is what the types allow") {
  EXPECT_FALSE(supports(Reduction::sum, Scalar::bytes));
  EXPECT_FALSE(supports(Reduction::min, Scalar::complex64));
  EXPECT_FALSE(supports(Reduction::bit_or, Scalar::float64));
  EXPECT_TRUE(supports(Reduction::replace, Scalar::bytes));
  EXPECT_TRUE(supports(Reduction::sum, Scalar::complex128));
  EXPECT_TRUE(supports(Reduction::bit_and, Scalar::uint16));
}

CASE("rows of every width are combined to the same bits, and nothing beside them") {
  for_all([](const Loops& loops, Scalar scalar, Reduction reduction) {
    const byte_count size = size_of(scalar);
    for (byte_count values = 1; values * size <= 200; ++values) {
      const byte_count width = values * size, ds[2] = {5 * (width + size), width + size},
                       ss[2] = {4 * width, width};
      const Bytes src = some_bytes(static_cast<std::size_t>(3 * ss[0] + 64), scalar, 1);
      Bytes dst = some_bytes(static_cast<std::size_t>(3 * ds[0] + 64), scalar, 2), expected = dst;
      for (byte_count p = 0; p < 3; ++p)
        for (byte_count r = 0; r < 4; ++r)
          expect(expected, size + p * ds[0] + r * ds[1], src, p * ss[0] + r * ss[1], width, scalar,
              reduction);
      loops.strided(dst.data() + size, src.data(), 3, 4, ds, ss, width);
      CAPTURE(width);
      ASSERT_TRUE(equal(dst, expected, scalar, reduction));
    }
  });
}

CASE("listed cells are combined in the list's order, those listed twice twice") {
  constexpr local_index cells = 60, places = 23;
  std::vector<local_index> to, from;
  for (local_index k = 0; k < cells; ++k)
    to.push_back(k % 5 == 4 ? to.back() : k * 7 % places), from.push_back((k * 11 + 3) % cells);
  for_all([&](const Loops& loops, Scalar scalar, Reduction reduction) {
    const byte_count size = size_of(scalar);
    for (byte_count values = 1; values * size <= 80; ++values) {
      const byte_count width = values * size;
      for (const bool listed : {false, true}) {
        IndexedOp op{.width = width,
            .count = cells,
            .src_stride = width,
            .dst_stride = width + size,
            .src_list = listed ? from.data() : nullptr,
            .dst_list = to.data(),
            .scalar = scalar};
        const Bytes src = some_bytes(static_cast<std::size_t>(cells * width), scalar, 3);
        Bytes dst = some_bytes(static_cast<std::size_t>(places * op.dst_stride), scalar, 4),
              expected = dst;
        for (std::size_t k = 0; k < to.size(); ++k)
          expect(expected, to[k] * op.dst_stride, src,
              (listed ? from[k] : static_cast<byte_count>(k)) * width, width, scalar, reduction);
        loops.indexed(dst.data(), src.data(), op);
        CAPTURE(width);
        ASSERT_TRUE(equal(dst, expected, scalar, reduction));
      }
    }
  });
}

CASE("runs of values are combined to the same bits") {
  for_all([](const Loops& loops, Scalar scalar, Reduction reduction) {
    std::vector<Run> runs;
    byte_count src_bytes = 0, dst_bytes = 0;
    for (byte_count values : {1, 2, 3, 7, 16, 31, 64, 129}) {
      runs.push_back({src_bytes, dst_bytes, values * size_of(scalar)});
      src_bytes += runs.back().bytes;
      dst_bytes += runs.back().bytes + size_of(scalar);
    }
    const Bytes src = some_bytes(static_cast<std::size_t>(src_bytes), scalar, 5);
    Bytes dst = some_bytes(static_cast<std::size_t>(dst_bytes), scalar, 6), expected = dst;
    for (const Run& run : runs)
      expect(expected, run.dst, src, run.src, run.bytes, scalar, reduction);
    loops.runs(dst.data(), src.data(), runs.data(), static_cast<byte_count>(runs.size()));
    ASSERT_TRUE(equal(dst, expected, scalar, reduction));
  });
}

CASE("rows and listed cells of every width are copied, and nothing beside them") {
  const std::vector<local_index> list{5, 0, 3, 9, 1};
  for (const Kernels* each : kernels_here())
    for (byte_count width = 1; width <= 150; ++width) {
      const byte_count strides[2] = {0, width}, gaps[2] = {0, width + 3};
      const Bytes src = some_bytes(static_cast<std::size_t>(10 * width), Scalar::uint8, 7);
      Bytes dst(static_cast<std::size_t>(10 * gaps[1]), std::byte{0x5a}),
          expected = dst, listed = dst, expected_listed = dst;
      for (byte_count r = 0; r < 5; ++r) {
        std::memcpy(
            expected.data() + r * gaps[1], src.data() + r * width, static_cast<std::size_t>(width));
        std::memcpy(expected_listed.data() + list[static_cast<std::size_t>(r)] * gaps[1],
            src.data() + r * width, static_cast<std::size_t>(width));
      }
      each->strided(dst.data(), src.data(), 1, 5, gaps, strides, width);
      each->indexed(listed.data(), src.data(),
          {.width = width,
              .count = 5,
              .src_stride = width,
              .dst_stride = gaps[1],
              .dst_list = list.data()});
      CAPTURE(std::string(each->name));
      CAPTURE(width);
      ASSERT_EQ(dst, expected);
      ASSERT_EQ(listed, expected_listed);
    }
}

CASE("mirrored rows are copied element by element backward, and with the opposite sign") {
  const auto check = [](const Loops& loops, byte_count width, byte_count rows, bool from_end,
                         auto&& change) {
    const byte_count row = rows * width, ds[2] = {row + 5 * width, from_end ? -width : width},
                     ss[2] = {row + 3 * width, -ds[1]};
    const Bytes src = some_bytes(static_cast<std::size_t>(3 * ss[0]), Scalar::uint8, 8);
    Bytes dst(static_cast<std::size_t>(3 * ds[0]), std::byte{0x5a}), expected = dst;
    for (byte_count p = 0; p < 3; ++p)
      for (byte_count r = 0; r < rows; ++r) {
        std::byte* const to = expected.data() + p * ds[0] + width + r * width;
        std::memcpy(to, src.data() + p * ss[0] + width + (rows - 1 - r) * width,
            static_cast<std::size_t>(width));
        change(to, width);
      }
    const byte_count last = (rows - 1) * width;
    loops.strided(dst.data() + width + (from_end ? last : 0),
        src.data() + width + (from_end ? 0 : last), 3, rows, ds, ss, width);
    CAPTURE(width);
    CAPTURE(rows);
    ASSERT_EQ(dst, expected);
  };
  for (const Kernels* each : kernels_here())
    for (const bool from_end : {false, true})
      for (byte_count rows = 1; rows < 300; rows += rows < 80 ? 1 : 73) {
        CAPTURE(std::string(each->name));
        for (const byte_count width : {1, 2, 4, 8, 12, 16, 24})
          check(*each, width, rows, from_end, [](std::byte*, byte_count) {});
        for (const Scalar scalar : all_scalars)
          for (const byte_count values : {1, 2, 3}) {
            const byte_count size = size_of(scalar);
            check(*each->negating(scalar), values * size, rows, from_end,
                [&](std::byte* at, byte_count width) {
                  for (byte_count i = 0; i < width; i += size)
                    test::with_type({scalar, 0}, [&]<class T>(T value) {
                      std::memcpy(&value, at + i, sizeof value);
                      if constexpr (std::is_integral_v<T>) value = static_cast<T>(0u - value);
                      else value = -value;
                      std::memcpy(at + i, &value, sizeof value);
                    });
                });
          }
      }
}

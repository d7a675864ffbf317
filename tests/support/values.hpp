// Values that encode their source, and their reductions.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "parhelion/plan/program.hpp"

namespace test {

using namespace parhelion;

/// Finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
template <class... Rest>
std::uint64_t mix(std::uint64_t first, std::uint64_t second, Rest... rest) {
  return mix(mix(first) ^ second, static_cast<std::uint64_t>(rest)...);
}
inline std::uint64_t mix(const Coordinates& cell) {
  return mix(static_cast<std::uint64_t>(cell[0]), static_cast<std::uint64_t>(cell[1]),
      static_cast<std::uint64_t>(cell[2]), static_cast<std::uint64_t>(cell[3]));
}

/// bits: any bit pattern, for copies only. whole: small integers, whose sums are exact in every
/// type. rounded: fractions, whose sums depend on the order.
enum class Values { bits, whole, rounded };

/// Calls `use` with a zero of the element's C++ type; no opaque bytes.
template <class Use>
void with_type(Element element, Use&& use) {
  switch (element.scalar) {
    case Scalar::bytes: return;
    case Scalar::int8: return use(std::int8_t{});
    case Scalar::int16: return use(std::int16_t{});
    case Scalar::int32: return use(std::int32_t{});
    case Scalar::int64: return use(std::int64_t{});
    case Scalar::uint8: return use(std::uint8_t{});
    case Scalar::uint16: return use(std::uint16_t{});
    case Scalar::uint32: return use(std::uint32_t{});
    case Scalar::uint64: return use(std::uint64_t{});
    case Scalar::float32: return use(float{});
    case Scalar::float64: return use(double{});
    case Scalar::complex64: return use(std::complex<float>{});
    case Scalar::complex128: return use(std::complex<double>{});
  }
}

inline void write_bits(std::byte* at, std::size_t bytes, std::uint64_t key) {
  for (std::size_t done = 0; done < bytes; done += 8) {
    key = mix(key);
    std::memcpy(at + done, &key, std::min<std::size_t>(8, bytes - done));
  }
}

inline void write_value(std::byte* at, Element element, std::uint64_t key, Values values) {
  if (values == Values::bits || element.scalar == Scalar::bytes)
    return write_bits(at, static_cast<std::size_t>(element.size), key);
  with_type(element, [&](auto zero) {
    using T = decltype(zero);
    const double number = values == Values::whole ? static_cast<double>(mix(key) % 101)
                                                  : static_cast<double>(mix(key) % 1000003) / 7.0;
    T value;
    if constexpr (std::is_integral_v<T>) value = static_cast<T>(static_cast<std::int64_t>(number));
    else if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(number);
    else
      value = T(static_cast<typename T::value_type>(number),
          static_cast<typename T::value_type>(mix(key, 1) % 101));
    for (std::size_t i = 0; i < static_cast<std::size_t>(element.size); i += sizeof value)
      std::memcpy(at + i, &value, sizeof value);
  });
}

template <class T>
T combined(T a, T b, Reduction reduction) {
  if (reduction == Reduction::replace) return b;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (reduction == Reduction::sum) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (reduction == Reduction::bit_and) return static_cast<T>(a & b);
    if (reduction == Reduction::bit_or) return static_cast<T>(a | b);
    if (reduction == Reduction::prod) return static_cast<T>(std::uint64_t(a) * std::uint64_t(b));
  } else if (reduction == Reduction::sum) {
    return a + b;
  } else if (reduction == Reduction::prod) {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    else
      return T(
          a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  }
  if constexpr (std::is_arithmetic_v<T>)
    return reduction == Reduction::min ? std::min(a, b) : std::max(a, b);
  return a;
}

/// The expected combination of an owner's value with a ghost's.
inline void combine_value(
    std::byte* into, const std::byte* from, Element element, Reduction reduction) {
  if (reduction == Reduction::replace)
    std::memcpy(into, from, static_cast<std::size_t>(element.size));
  else
    with_type(element, [&](auto a) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(element.size); i += sizeof a) {
        auto b = a;
        std::memcpy(&a, into + i, sizeof a);
        std::memcpy(&b, from + i, sizeof b);
        a = combined(a, b, reduction);
        std::memcpy(into + i, &a, sizeof a);
      }
    });
}

/// Every element type, with opaque ones of even and odd sizes.
inline const std::vector<Element>& all_elements() {
  static const std::vector<Element> all{
      {Scalar::float64, 8},
      {Scalar::int32, 4},
      {Scalar::bytes, 24},
      {Scalar::int8, 1},
      {Scalar::complex128, 16},
      {Scalar::float32, 4},
      {Scalar::uint16, 2},
      {Scalar::bytes, 3},
      {Scalar::int64, 8},
      {Scalar::complex64, 8},
      {Scalar::uint8, 1},
      {Scalar::int16, 2},
      {Scalar::bytes, 40},
      {Scalar::uint32, 4},
      {Scalar::uint64, 8},
  };
  return all;
}

inline std::vector<Element> combinable(Reduction reduction) {
  std::vector<Element> elements;
  for (Element element : all_elements())
    if (supports(reduction, element.scalar)) elements.push_back(element);
  return elements;
}

}  // namespace test

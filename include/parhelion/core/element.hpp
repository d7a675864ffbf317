// Element types of fields.
#pragma once

#include <array>
#include <complex>
#include <string>
#include <type_traits>

#include "parhelion/core/kinds.h"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// One scalar: int8 … int64, uint8 … uint64, float32, float64, complex64, complex128
/// (core/kinds.h), or bytes.
enum class Scalar : std::uint8_t {
  bytes,  ///< opaque: copied and replaced, never added
  PHL_SCALARS(PHL_CPP_NAME)
};

/// Element of a field: a scalar, an array of scalars (std::array<double, 3>), reduced one by one,
/// or opaque bytes.
struct Element {
  Scalar scalar = Scalar::bytes;
  std::int32_t size = 1;  ///< in bytes, a multiple of the scalar's size
  friend bool operator==(const Element&, const Element&) = default;
};

namespace detail {
template <class T>
constexpr Scalar scalar_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>) return Scalar::float32;
  else if constexpr (std::is_same_v<U, double>) return Scalar::float64;
  else if constexpr (std::is_same_v<U, std::complex<float>>) return Scalar::complex64;
  else if constexpr (std::is_same_v<U, std::complex<double>>) return Scalar::complex128;
  else if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool>) {
    constexpr int step = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
    constexpr int first = static_cast<int>(std::is_signed_v<U> ? Scalar::int8 : Scalar::uint8);
    return static_cast<Scalar>(first + step);
  } else return Scalar::bytes;
}

// Scalar type of a std::array, nested ones included.
template <class T>
struct Values {
  using type = std::remove_cv_t<T>;
};
template <class T, std::size_t n>
struct Values<std::array<T, n>> : Values<T> {};
template <class T, std::size_t n>
struct Values<const std::array<T, n>> : Values<T> {};
}  // namespace detail

/// Element of a number, a complex number, or std::arrays of them; opaque bytes of any other
/// trivially copyable type.
template <class T>
constexpr Element element_of() {
  static_assert(std::is_trivially_copyable_v<T>, "halo elements are moved as bytes");
  return {
      detail::scalar_of<typename detail::Values<T>::type>(), static_cast<std::int32_t>(sizeof(T))};
}

/// Size in bytes; 1 for opaque bytes.
std::int32_t size_of(Scalar scalar);

/// "float32", "int64", "float64x3", "bytes24", …
std::string to_string(Element element);

/// Inverse of to_string. Throws Error for an unknown name.
Element parse_element(const std::string& name);

}  // namespace parhelion

// What one component of a cell is.
#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// What one component of a cell is.
enum class Scalar : std::uint8_t {
    bytes,  ///< opaque: can be copied and replaced, not added
    int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float32, float64, complex64, complex128
};

/// Element type of a field: a scalar that can be reduced, or opaque bytes of a given size.
struct Element {
    Scalar scalar = Scalar::bytes;
    std::int32_t size = 1;  ///< bytes
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
}  // namespace detail

/// Element of a C++ type; any trivially copyable type that is not arithmetic becomes opaque bytes.
template <class T>
constexpr Element element_of() {
    static_assert(std::is_trivially_copyable_v<T>, "halo elements are moved as bytes");
    return {detail::scalar_of<T>(), static_cast<std::int32_t>(sizeof(T))};
}

/// "float32", "int64", "bytes24", …
std::string to_string(Element element);

/// The inverse of to_string. Throws Error for an unknown name.
Element parse_element(const std::string& name);

}  // namespace parhelion

#pragma once

#include <cstdint>

#include "parhelion/core/element.hpp"

namespace parhelion::bench {

/// Calls `body` with a value of the type that the values of an element are made of: a complex
/// number has two.
template <class Body>
decltype(auto) with_lane_type(Element element, Body&& body) {
    switch (element.scalar) {
        case Scalar::int8: return body(std::int8_t{});
        case Scalar::int16: return body(std::int16_t{});
        case Scalar::int32: return body(std::int32_t{});
        case Scalar::int64: return body(std::int64_t{});
        case Scalar::uint16: return body(std::uint16_t{});
        case Scalar::uint32: return body(std::uint32_t{});
        case Scalar::uint64: return body(std::uint64_t{});
        case Scalar::float32:
        case Scalar::complex64: return body(float{});
        case Scalar::float64:
        case Scalar::complex128: return body(double{});
        case Scalar::uint8:
        case Scalar::bytes: break;
    }
    return body(std::uint8_t{});
}

/// Values of the lane type in an element.
inline int lanes_per_element(Element element) {
    return with_lane_type(element,
                          [&](auto lane) { return element.size / static_cast<int>(sizeof lane); });
}

}  // namespace parhelion::bench

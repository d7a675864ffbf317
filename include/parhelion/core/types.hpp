// Index and size types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parhelion {

using local_index = std::int32_t;   ///< a cell on this rank
using global_index = std::int64_t;  ///< a cell of the whole problem
using byte_count = std::int64_t;    ///< sizes, strides and offsets in bytes

/// Most dimensions of a structured grid.
inline constexpr int max_dimensions = 4;

/// Owner → ghost, or ghost → owner; with a sum, reverse is the adjoint of forward.
enum class Direction : std::uint8_t { forward, reverse };

}  // namespace parhelion

// Index and size types used everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parhelion {

using local_index = std::int32_t;   ///< a cell on this rank
using global_index = std::int64_t;  ///< a cell of the whole problem
using byte_count = std::int64_t;    ///< sizes, strides and offsets in bytes

/// Structured grids have at most so many dimensions.
inline constexpr int max_dimensions = 4;

/// Forward: owner → ghost. Reverse: ghost → owner.
enum class Direction : std::uint8_t { forward, reverse };

class UserReduction;

/// How values of one cell become one: those that come back to their owner in a reverse exchange, or those of a point that several ranks
/// hold. `replace` takes the last one. One that the program defines is an object of its own (reduction_of in core/reduction.hpp), which
/// must live as long as what it was passed to is under way.
class Reduction {
public:
    enum Kind : std::uint8_t { replace, sum, min, max, bit_and, bit_or, prod, user };

    constexpr Reduction(Kind kind) : kind_(kind) {}                          // NOLINT: `Reduction::sum` is one
    constexpr Reduction(const UserReduction& by) : kind_(user), by_(&by) {}  // NOLINT: as what the program defines
    constexpr Kind kind() const { return kind_; }
    /// Null unless the program defines it.
    constexpr const UserReduction* by() const { return by_; }
    friend constexpr bool operator==(const Reduction&, const Reduction&) = default;

private:
    Kind kind_;
    const UserReduction* by_ = nullptr;
};

}  // namespace parhelion

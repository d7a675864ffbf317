// Blocks of a grid by position, inverse seams, extents as text, loops over index ranges.
#pragma once

#include "core/concat.hpp"
#include "parhelion/domain/cartesian_domain.hpp"

namespace parhelion {

/// "2 × 3"
template <class Numbers>
std::string extents_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += concat((text.empty() ? "" : " × "), number);
  return text;
}

/// Coordinates in the grid of all blocks.
using Position = std::array<int, max_dimensions>;

/// Calls `use(at)` for all lo ≤ at < hi, last dimension fastest.
template <class At, class Use>
void for_each_index(const At& lo, const At& hi, Use&& use) {
  At at{};
  for (at[0] = lo[0]; at[0] < hi[0]; ++at[0])
    for (at[1] = lo[1]; at[1] < hi[1]; ++at[1])
      for (at[2] = lo[2]; at[2] < hi[2]; ++at[2])
        for (at[3] = lo[3]; at[3] < hi[3]; ++at[3]) use(std::as_const(at));
}

/// Position along an axis of the block with cell or point `x`.
inline int block_at(const Axis& axis, global_index x) {
  return static_cast<int>(std::ranges::upper_bound(axis.starts, x) - axis.starts.begin()) - 1;
}

/// Points behind a block's last cell that it holds and the next block owns.
inline int points_of_next(const Axis& axis, int block) {
  return axis.periodic || block != axis.blocks() - 1 ? std::max(axis.stagger, 0) : 0;
}

/// The path in the opposite direction. Its axes must be explicit.
Seam inverse(const Seam& seam);

inline Box owned_at(const CartesianDomain& domain, const Position& position) {
  Box box;
  for (int d = 0; d < domain.dimensions(); ++d) {
    box.lo[d] = domain.axis(d).starts[position[d]];
    box.hi[d] = domain.axis(d).starts[position[d] + 1];
  }
  return box;
}

}  // namespace parhelion

#pragma once

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// x ↦ x + shift, or shift − x along a mirrored axis.
struct AxisMap {
  Coordinates shift{};
  DimensionSet mirrored = 0;

  bool mirrors(int d) const { return has(mirrored, d); }

  Box of(const Box& box) const {
    Box there;
    for (int d = 0; d < max_dimensions; ++d) {
      there.lo[d] = mirrors(d) ? shift[d] - box.hi[d] + 1 : shift[d] + box.lo[d];
      there.hi[d] = mirrors(d) ? shift[d] - box.lo[d] + 1 : shift[d] + box.hi[d];
    }
    return there;
  }
  AxisMap after(const AxisMap& first) const {
    AxisMap both{shift, static_cast<DimensionSet>(mirrored ^ first.mirrored)};
    for (int d = 0; d < max_dimensions; ++d)
      both.shift[d] += mirrors(d) ? -first.shift[d] : first.shift[d];
    return both;
  }
  AxisMap inverse() const {
    AxisMap back = *this;
    for (int d = 0; d < max_dimensions; ++d)
      if (!mirrors(d)) back.shift[d] = -shift[d];
    return back;
  }
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// Along the ghosts' axes.
inline AxisMap to_owner(const BoxPiece& ghosts) { return {ghosts.shift, ghosts.turn.mirrored}; }

/// Ghosts relative to the owned cells, per axis: below (−1), beside (0) or above (1).
using RegionOffset = std::array<int, max_dimensions>;

inline RegionOffset region_of(const Box& ghosts, const Box& owned) {
  RegionOffset offset{};
  for (int d = 0; d < max_dimensions; ++d)
    offset[d] = ghosts.hi[d] <= owned.lo[d] ? -1 : ghosts.lo[d] >= owned.hi[d];
  return offset;
}

}  // namespace parhelion

// Memory ranges of arrays.
#pragma once

#include <algorithm>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Along the first `dimensions`.
inline bool equal_halo(const HaloWidth& a, const HaloWidth& b, int dimensions) {
  return std::equal(a.lower.begin(), a.lower.begin() + dimensions, b.lower.begin()) &&
         std::equal(a.upper.begin(), a.upper.begin() + dimensions, b.upper.begin());
}

/// A block's first owned cell, and the byte range of its cells with ghosts.
struct ArrayBlock {
  const std::byte* first = nullptr;
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  bool empty() const { return begin == end; }
  ArrayBlock moved_to(const std::byte* place) const {
    return {place, place + (begin - first), place + (end - first)};
  }
};

/// Owned cells; of an indexed pattern: owned cells, or ghosts.
inline byte_count cells_of(const Pattern& pattern, int b) {
  if (pattern.indexed()) return b == 0 ? pattern.owned : pattern.ghosts;
  return pattern.blocks[b].cells();
}

/// Byte range of a block with its ghosts; empty without cells.
ArrayBlock array_block(const Plan& plan, int f, int b);

/// The same, but empty for owned cells of an index map, which forward exchanges never write.
ArrayBlock written_block(const Plan& plan, int f, int b);

/// use(f, b) for each block, in the order of Plan::bases.
template <class Use>
void for_blocks(const Plan& plan, Use&& use) {
  for (int f = 0; f < plan.field_count(); ++f)
    for (int b = 0; b < static_cast<int>(plan.fields[f].blocks.size()); ++b) use(f, b);
}

/// "on device 0", "in the host's memory". Local.
std::string place_text(const std::byte* array);

/// Throws Error if the array is on a device. `on_many_calls`: only queries a loaded driver. Local.
void require_on_host(const std::byte* array, bool on_many_calls = false);
void require_on_host(const Field& field, bool on_many_calls = false);

}  // namespace parhelion

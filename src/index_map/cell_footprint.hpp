#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "plan/overlap.hpp"

namespace parhelion {

/// `cells` cells of `width` bytes; none of a null array.
inline Footprint footprint(const CellArray& array, byte_count cells, byte_count width) {
  return {static_cast<byte_count>(reinterpret_cast<std::intptr_t>(array.first)), width, 1,
      {array.first == nullptr ? 0 : cells}, {array.stride}};
}

}  // namespace parhelion

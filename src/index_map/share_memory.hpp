// Tests whether two arrays of a call overlap in memory.
#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "plan/overlap.hpp"

namespace parhelion {

struct CellPlaces {
  CellArray array;
  byte_count cells = 0, width = 0;

  byte_count first() const {
    return static_cast<byte_count>(reinterpret_cast<std::intptr_t>(array.first));
  }
  byte_count low() const { return first() + std::min<byte_count>((cells - 1) * array.stride, 0); }
  byte_count high() const {
    return first() + std::max<byte_count>((cells - 1) * array.stride, 0) + width;
  }
  Footprint footprint() const { return {first(), width, 1, {cells}, {array.stride}}; }
};

inline bool share_memory(const CellPlaces& a, const CellPlaces& b) {
  if (a.cells == 0 || b.cells == 0 || a.array.first == nullptr || b.array.first == nullptr)
    return false;
  return a.low() < b.high() && b.low() < a.high() && overlap(a.footprint(), b.footprint());
}

}  // namespace parhelion

// Expected values of structured halos, from global coordinates only, independent of patterns.
#pragma once

#include <optional>
#include <vector>

#include "parhelion/parhelion.hpp"

namespace test {

using namespace parhelion;

template <class Visit>
void for_each_cell(const Box& box, Visit&& visit) {
  Coordinates x;
  for (x[0] = box.lo[0]; x[0] < box.hi[0]; ++x[0])
    for (x[1] = box.lo[1]; x[1] < box.hi[1]; ++x[1])
      for (x[2] = box.lo[2]; x[2] < box.hi[2]; ++x[2])
        for (x[3] = box.lo[3]; x[3] < box.hi[3]; ++x[3]) visit(static_cast<const Coordinates&>(x));
}

inline bool contains(const Box& box, const Coordinates& x) {
  for (int d = 0; d < max_dimensions; ++d)
    if (x[d] < box.lo[d] || x[d] >= box.hi[d]) return false;
  return true;
}

/// Independent model of the owners of points, for a stagger and depth on a domain of cells.
struct PointModel {
  const CartesianDomain& cells;
  Stagger stagger = {};
  HaloWidth depth;

  bool owns_ends(int d) const {
    return cells.boundary() == Boundary::owned && !cells.axis(d).periodic;
  }
  /// First owned point, and one past the last.
  global_index lowest(int d) const { return owns_ends(d) ? -depth.lower[d] : 0; }
  global_index highest(int d) const {
    const Axis& axis = cells.axis(d);
    return axis.extent + (axis.periodic ? 0 : stagger.along[d]) +
           (owns_ends(d) ? depth.upper[d] : 0);
  }
  Box owned(const std::array<int, max_dimensions>& position) const {
    Box box;
    for (int d = 0; d < cells.dimensions(); ++d) {
      const Axis& axis = cells.axis(d);
      box.lo[d] = position[d] == 0 && !axis.periodic ? lowest(d) : axis.starts[position[d]];
      box.hi[d] = position[d] == axis.blocks() - 1 && !axis.periodic ? highest(d)
                                                                     : axis.starts[position[d] + 1];
    }
    return box;
  }
  /// The block's points, without halo.
  Box held(const std::array<int, max_dimensions>& position) const {
    Box box;
    for (int d = 0; d < cells.dimensions(); ++d) {
      box.lo[d] = cells.axis(d).starts[position[d]];
      box.hi[d] = cells.axis(d).starts[position[d] + 1] + stagger.along[d];
    }
    return box;
  }
  /// The point whose value ghost `x` of a block gets; empty if no rank owns or sends it.
  std::optional<Coordinates> source_of(
      const std::array<int, max_dimensions>& position, Coordinates x) const {
    const Box mine = owned(position), all = held(position);
    if (mine.empty() || contains(mine, x)) return {};
    int sides = 0;
    for (int d = 0; d < cells.dimensions(); ++d) {
      sides += x[d] < std::min(all.lo[d], mine.lo[d]) || x[d] >= std::max(all.hi[d], mine.hi[d]);
      const global_index extent = cells.axis(d).extent;
      if (x[d] < all.lo[d] - depth.lower[d] || x[d] >= all.hi[d] + depth.upper[d]) return {};
      if (cells.axis(d).periodic) x[d] = (x[d] % extent + extent) % extent;
      else if (x[d] < lowest(d) || x[d] >= highest(d)) return {};
    }
    if (cells.neighbors() == Neighbors::faces && sides > 1) return {};
    return x;
  }
};

struct AnyBlock {
  int rank, block;
  std::array<int, max_dimensions> position;
};

inline std::vector<AnyBlock> all_blocks(const CartesianDomain& domain) {
  Box positions;
  for (int d = 0; d < domain.dimensions(); ++d) positions.hi[d] = domain.axis(d).blocks();
  std::vector<AnyBlock> blocks;
  for_each_cell(positions, [&](const Coordinates& at) {
    AnyBlock block{};
    for (int d = 0; d < domain.dimensions(); ++d) block.position[d] = static_cast<int>(at[d]);
    const auto place = domain.place_of(block.position);
    block.rank = place.rank;
    block.block = place.block;
    blocks.push_back(block);
  });
  return blocks;
}

}  // namespace test

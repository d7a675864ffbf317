// Placement methods, each of which orders the grid's points, and shared building blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/problem.hpp"

namespace parhelion::placement {

/// Position of each point of a box, last dimension fastest.
using Order = std::vector<int>;

/// Orders points with the dimensions in `fastest_first` fastest (then the others, last first). With
/// `to_and_fro` (boustrophedon) each dimension alternates direction: successive points are
/// neighbors.
Order path(const Coords& box, std::vector<int> fastest_first, bool to_and_fro);

/// Boustrophedon path through a box. The slowest dimension is the one where a cut costs least per
/// point.
Order plain_path(const Problem& problem, const Coords& box);

struct Slab {
  int thickness;
  const Order& order;
  unsigned mirror = 0;  ///< bit d: dimension d is reversed
};
Order slab_after_slab(const Coords& box, int dimension, const std::vector<Slab>& slabs);

/// A cut of a box in two; dimension −1: none.
struct Cut {
  int dimension = -1, thickness = 0;
};
std::pair<Coords, Coords> halves(const Coords& box, const Cut& cut);
/// The order of a box that is cut, from those of its halves.
Order joined(const Coords& box, const Cut& cut, const Order& left, const Order& right);

/// An order and its costs inside its box.
struct Arrangement {
  Costs costs{};
  Order order;
};

/// The best strips through `box` for the parts of a share; tries fewer widths for larger boxes.
Arrangement best_strips(const Problem& problem, const Coords& box, const Share& share);

/// A method's result: an order, or the reason why there is none.
struct Attempt {
  Order order;
  std::string reason = {};
};

Attempt kd_tree(const Problem& problem);
Attempt stencil_strips(const Problem& problem);
Attempt recursive_bisection(const Problem& problem);
Attempt guillotine(const Problem& problem);

}  // namespace parhelion::placement

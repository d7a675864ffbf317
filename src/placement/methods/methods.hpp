// Placement methods, which order the grid's points, and their building blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/problem.hpp"

namespace parhelion::placement {

/// Position of each point of a box, last dimension fastest.
using Order = std::vector<int>;

/// The dimensions in `fastest_first` are fastest (then the others, last first). With `to_and_fro`
/// (boustrophedon) each alternates direction: successive points are neighbors.
Order path(const Coords& box, std::vector<int> fastest_first, bool to_and_fro);

/// Boustrophedon; slowest in the dimension where a cut costs least per point.
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

/// A box's cut, and its order when known.
struct Piece {
  Cut cut = {};
  Order order = {};
};

/// The order of a box for positions from `first`, out of its halves', or a plain path if not cut.
/// `piece_of(box, first)` returns a reference to its piece; equal pieces may be the same.
template <class PieceOf>
const Order& order_of(
    const Problem& problem, const Coords& box, int first, const PieceOf& piece_of) {
  Piece& piece = piece_of(box, first);
  auto& [cut, order] = piece;
  if (!order.empty()) return order;
  if (cut.dimension < 0) return order = plain_path(problem, box);
  const auto [left, right] = halves(box, cut);
  return order = slab_after_slab(box, cut.dimension,
             {{cut.thickness, order_of(problem, left, first, piece_of)},
                 {right[cut.dimension], order_of(problem, right, first + volume(left), piece_of)}});
}

/// An order and its costs inside its box.
struct Arrangement {
  Costs costs{};
  Order order;
};

/// The best strips through `box` for a share's parts; fewer widths are tried for larger boxes.
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

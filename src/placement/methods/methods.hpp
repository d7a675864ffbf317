// The methods by name: each turns a problem into an order of the grid's points; and what they
// share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/problem.hpp"

namespace parhelion::placement {

/// The place of each point of a box, the last dimension fastest.
using Order = std::vector<int>;

/// Point after point, the dimensions named in `fastest_first` (the others follow, last first). With
/// `to_and_fro` each dimension turns round instead of jumping back: successive points are
/// neighbors.
Order path(const Coords& box, std::vector<int> fastest_first, bool to_and_fro);

/// The path to and fro through a box whose slowest dimension is the one where a cut costs least per
/// point.
Order plain_path(const Problem& problem, const Coords& box);

struct Slab {
    int thickness;
    const Order& order;
    unsigned mirror = 0;  ///< bit d: dimension d is passed backwards
};
Order slab_after_slab(const Coords& box, int dimension, const std::vector<Slab>& slabs);

/// Where a box is cut in two; no dimension: nowhere.
struct Cut {
    int dimension = -1, thickness = 0;
};
std::pair<Coords, Coords> halves(const Coords& box, const Cut& cut);

/// An order and what it costs inside its box.
struct Arrangement {
    Costs costs{};
    Order order;
};

/// The best strips through `box` for the parts of a share; looks at fewer widths the larger the
/// box.
Arrangement best_strips(const Problem& problem, const Coords& box, const Share& share);

/// A method's answer: an order, or why it has none.
struct Attempt {
    Order order;
    std::string reason;
};

Attempt kd_tree(const Problem& problem);
Attempt stencil_strips(const Problem& problem);
Attempt recursive_bisection(const Problem& problem);
Attempt guillotine(const Problem& problem);

}  // namespace parhelion::placement

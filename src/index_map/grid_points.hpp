// Points of a staggered field that several ranks hold, by where the field's arrays have them.
#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion {

/// How the arrays of a field lie, one for each block, from their first point on, in units of a
/// cell's values, or of one component where these lie apart.
struct PointLayout {
    Stagger stagger;
    std::vector<std::array<global_index, max_dimensions>> strides;
    friend bool operator==(const PointLayout&, const PointLayout&) = default;
};

/// Throws Error where nobody else holds what the field lives on.
void require_points(const CartesianDomain& domain, const Field& field);
/// Throws Error where the field cannot be one of points of the domain.
PointLayout point_layout(const CartesianDomain& domain, const Field& field);
/// The field's array of a block as one array for each component, or as one of all.
void append_values(const CartesianDomain& domain, const Field& field, int block,
                   std::vector<CellValues>& values);

/// Points of a block that are shared, or that the rank has twice: their places in its array, and
/// their numbers.
struct BlockPoints {
    std::vector<local_index> places, numbers;
};

struct GridPoints {
    SharedPoints
        shared;  ///< "cells" are places in the array; where a rank has several, numbers of points
    std::vector<local_index> first,
        again;  ///< where this rank has a point for the first time, and once more, likewise
    std::vector<BlockPoints> blocks;  ///< where it has several
};

/// Collective.
GridPoints find_grid_points(const CartesianDomain& domain, const PointLayout& layout);

}  // namespace parhelion

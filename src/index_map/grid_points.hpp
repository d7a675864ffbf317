// Points of a staggered field that several ranks hold, by where the field's arrays have them.
#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion {

/// How the arrays of a field lie, from their first point on, in units of a cell's values, or of one component where these lie apart.
struct PointLayout {
    Stagger stagger;
    std::array<global_index, max_dimensions> strides{};
    friend bool operator==(const PointLayout&, const PointLayout&) = default;
};

/// Throws Error where the field cannot be one of points of the domain.
PointLayout point_layout(const CartesianDomain& domain, const Field& field);
/// The field as one array for each component, or as one of all.
void append_values(const CartesianDomain& domain, const Field& field, std::vector<CellValues>& values);

struct GridPoints {
    SharedPoints shared;               ///< "cells" are places in an array
    std::vector<local_index> first, again;  ///< where this rank has a point for the first time, and once more
};

/// Collective.
GridPoints find_grid_points(const CartesianDomain& domain, const PointLayout& layout);

}  // namespace parhelion

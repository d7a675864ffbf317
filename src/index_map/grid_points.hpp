// Finds the points of a staggered field that several ranks hold.
#pragma once

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion {

/// Strides of a field's arrays, one per block, in values of a cell or, if these are apart, of a
/// component.
struct PointLayout {
    Stagger stagger;
    std::vector<std::array<global_index, max_dimensions>> strides;
    friend bool operator==(const PointLayout&, const PointLayout&) = default;
};

/// Throws Error if the field has no shared points.
void require_points(const CartesianDomain& domain, const Field& field);
/// Throws Error if the field does not fit the domain's points.
PointLayout point_layout(const CartesianDomain& domain, const Field& field);
/// Appends the field's array of a block, as one array or one per component.
void append_values(const CartesianDomain& domain, const Field& field, int block,
                   std::vector<CellValues>& values);

/// Points of a block that are shared or held twice: places in its array, and numbers.
struct BlockPoints {
    std::vector<local_index> places, numbers;
};

struct GridPoints {
    SharedPoints shared;  ///< "cells" are places in the array; on several blocks, numbers of points
    std::vector<local_index> first,
        again;  ///< first and repeated occurrences of the rank's own points, numbered likewise
    std::vector<BlockPoints> blocks;  ///< empty on a single block
};

/// Collective.
GridPoints find_grid_points(const CartesianDomain& domain, const PointLayout& layout);

}  // namespace parhelion

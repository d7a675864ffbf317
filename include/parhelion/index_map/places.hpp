// Where the cells of an index map lie in arrays.
#pragma once

#include <optional>
#include <vector>

#include "parhelion/core/types.hpp"
#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/array_like.hpp"

namespace parhelion {

/// The number of each local cell of a map in arrays, from 0. Arrays may have further cells, which
/// nothing touches.
///
/// Numbers count through `extents`, the dimensions of the cells, of which the first one runs
/// fastest; none: one dimension. An array that has more dimensions than these has those of its
/// components in front of dimension `components_at` of the cells, from 0, in the same order: a map
/// with extents {nx, ny, blocks} and `components_at` 2 takes arrays (nx, ny, blocks) and (nx, ny,
/// levels, blocks) of Fortran.
struct Places {
    std::vector<local_index> owned, ghosts;
    std::vector<global_index> extents = {};
    int components_at = 0;
};

/// Throws Error for places that are negative, too many or too few, or outside of the extents, for a
/// place that two cells have, and for extents that are none. Local.
void check_places(const Places& places, local_index owned, local_index ghosts);

/// An array of a map with these places, whose dimensions are listed with the fastest one first.
/// Local. Throws Error for other dimensions or extents, and for components that no single stride
/// tells.
CellValues values_in(const Places& places, const ArrayShape& array);

/// Throws Error where a map has places, for what takes arrays of owned cells, then ghosts, alone.
/// Local.
void refuse_places(const std::optional<Places>& places);

}  // namespace parhelion

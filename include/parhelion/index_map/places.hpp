// Positions of an index map's cells in arrays.
#pragma once

#include <optional>

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/array_like.hpp"

namespace parhelion {

/// The array index of each local cell of a map, from 0. Further cells of arrays are never accessed.
///
/// Indices run through `extents`, the dimensions of the cells, first one fastest; empty: one
/// dimension. An array's further dimensions are those of its components, in front of dimension
/// `components_at` of the cells: with extents {nx, ny, blocks} and `components_at` 2, a map takes
/// the Fortran arrays (nx, ny, blocks) and (nx, ny, levels, blocks).
struct Places {
  std::vector<local_index> owned, ghosts;
  std::vector<global_index> extents = {};
  int components_at = 0;
};

/// Throws Error for negative, too many, too few or repeated places, or places outside the extents,
/// and for invalid extents. Local.
void check_places(const Places& places, local_index owned, local_index ghosts);

/// The values of an array, fastest dimension first, of a map with these places. Local. Throws Error
/// for other dimensions or extents, and for components without a single stride.
CellValues values_in(const Places& places, const ArrayShape& array);

/// Throws Error if a map has places, for functions that need owned cells, then ghosts. Local.
void refuse_places(const std::optional<Places>& places);

}  // namespace parhelion

// Edges between grid points, and their weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parhelion/placement/process_grid.hpp"

namespace parhelion::placement {

/// A directed edge from every grid point to that at `step` from it, if it exists.
struct Offset {
  Coords step{};
  std::int64_t bytes = 1;  ///< bytes per edge; 1 if unknown
};

/// The sends of every grid point: the same steps everywhere.
struct Stencil {
  std::vector<Offset> offsets;
  /// Cells of one rank, halo width and bytes per cell, if known: see with_halo_bytes.
  std::vector<std::int64_t> extent = {};
  int halo = 0, bytes_per_cell = 0;
};

/// Throws Error for more offsets, longer steps or more bytes than limits.hpp allows.
void check_bytes(const ProcessGrid& grid, const Stencil& stencil);

/// The 2·d neighbors across faces.
Stencil faces(int dimensions);

/// The 3^d − 1 neighbors across faces, edges and corners.
Stencil full(int dimensions);

/// Sets bytes and cells from one rank's cells and the halo width: along each dimension, an offset
/// carries the whole extent if its step is 0, else the halo width, however long the step. Throws
/// Error for extents or widths below 1, a wrong number of dimensions, bytes beyond 64 bits.
Stencil with_halo_bytes(
    Stencil stencil, const std::vector<std::int64_t>& local_extent, int halo, int bytes_per_cell);

}  // namespace parhelion::placement

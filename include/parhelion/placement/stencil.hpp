// Which grid points exchange with which, and how much.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parhelion/placement/process_grid.hpp"

namespace parhelion::placement {

/// A directed edge from every grid point to the point at `step` from it, if there is one.
struct Offset {
    Coords step{};
    std::int64_t bytes = 1;  ///< what travels along it; 1 where nothing is known
};

/// Who sends to whom: the same steps from every grid point.
struct Stencil {
    std::vector<Offset> offsets;
    /// Cells of one rank, halo width and bytes per cell, where they are known: which cells travel
    /// along an offset.
    std::vector<std::int64_t> extent = {};
    int halo = 0, bytes_per_cell = 0;

    int reach(int dimension) const;  ///< the largest |step| along it
};

/// Errors: more offsets, longer steps or more bytes than placement can count on this grid (see
/// limits.hpp).
void check_bytes(const ProcessGrid& grid, const Stencil& stencil);

/// The 2·d neighbors across faces.
Stencil faces(int dimensions);

/// The 3^d − 1 neighbors across faces, edges and corners.
Stencil full(int dimensions);

/// Fills in bytes, and which cells they are, from the cells of one rank and the halo width: an
/// offset that is zero in a dimension carries its whole extent there, another the halo width.
/// Offsets of more than one step carry what the first step carries. Errors: extents or widths below
/// 1, wrong number of dimensions, more bytes than 64 bits count.
Stencil with_halo_bytes(Stencil stencil, const std::vector<std::int64_t>& local_extent, int halo,
                        int bytes_per_cell);

}  // namespace parhelion::placement

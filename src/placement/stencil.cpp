#include "parhelion/placement/stencil.hpp"

#include <algorithm>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {

void check_bytes(const ProcessGrid& grid, const Stencil& stencil) {
  if (stencil.offsets.size() > most_offsets)
    refuse("the stencil has ", stencil.offsets.size(), " offsets: placement takes at most ",
        most_offsets);
  std::int64_t bytes = 0;
  for (const auto& offset : stencil.offsets) {
    for (const int step : offset.step)
      if (step < -most_step || step > most_step)
        refuse("a stencil offset has a step of ", step, ": steps are from -", most_step, " to ",
            most_step);
    if (offset.bytes < 0)
      refuse("a stencil offset carries ", offset.bytes, " bytes: give 0 or more");
    bytes = checked_sum(bytes, offset.bytes, "the number of bytes that a grid point sends");
  }
  // Twice: where a box spans a periodic dimension, edges cross both sides of a cut.
  checked_product({bytes, grid.size(), 2}, "the number of bytes that all grid points send");
}

Stencil full(int dimensions) {
  Coords box{1, 1, 1, 1};
  std::fill_n(box.begin(), dimensions, 3);
  Stencil stencil;
  for (int index = 0; index < volume(box); ++index) {
    Offset offset{point_of(box, index)};
    for (int d = 0; d < dimensions; ++d) --offset.step[d];
    if (offset.step != Coords{}) stencil.offsets.push_back(offset);
  }
  return stencil;
}

Stencil faces(int dimensions) {
  Stencil stencil = full(dimensions);
  std::erase_if(stencil.offsets, [](const Offset& offset) {
    return std::ranges::count(offset.step, 0) != max_dimensions - 1;
  });
  return stencil;
}

Stencil with_halo_bytes(
    Stencil stencil, const std::vector<std::int64_t>& local_extent, int halo, int bytes_per_cell) {
  if (halo < 1 || bytes_per_cell < 1)
    refuse("halo width ", halo, " with ", bytes_per_cell,
        " bytes per cell moves nothing: both must be at least 1");
  if (local_extent.empty() || local_extent.size() > max_dimensions ||
      std::ranges::min(local_extent) < 1)
    refuse("the cells of one rank need an extent of at least 1 in each of 1 to 4 dimensions");
  for (auto& offset : stencil.offsets) {
    offset.bytes = bytes_per_cell;
    for (std::size_t d = 0; d < local_extent.size(); ++d)
      offset.bytes = checked_product(
          {offset.bytes, offset.step[d] == 0 ? local_extent[d]
                                             : std::min<std::int64_t>(halo, local_extent[d])},
          "the number of halo bytes of a rank");
  }
  stencil.extent = local_extent, stencil.halo = halo, stencil.bytes_per_cell = bytes_per_cell;
  return stencil;
}

}  // namespace parhelion::placement

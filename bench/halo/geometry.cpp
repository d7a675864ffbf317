#include "halo/geometry.hpp"

#include <algorithm>

namespace parhelion::bench {

HaloGeometry make_geometry(const HaloParams& params, int rank) {
  HaloGeometry geometry;
  geometry.dims = static_cast<int>(params.grid.size());
  geometry.rank = rank;
  geometry.full = params.full;
  geometry.cell_bytes =
      static_cast<std::size_t>(params.element.size) * static_cast<std::size_t>(params.components);
  geometry.extent.fill(1);
  geometry.grid.fill(1);
  std::int64_t stride = 1;
  for (int d = geometry.dims - 1; d >= 0; --d) {
    const auto job = static_cast<std::size_t>(d);
    const auto memory = static_cast<std::size_t>(params.first_fastest ? d : geometry.dims - 1 - d);
    geometry.halo[memory] = params.halo;
    geometry.extent[memory] = params.extent[job];
    geometry.grid[memory] = params.grid[job];
    geometry.periodic[memory] = params.periodic[job];
    geometry.rank_stride[memory] = stride;
    geometry.position[memory] = rank / stride % params.grid[job];
    stride *= params.grid[job];
  }
  const auto last = static_cast<std::size_t>(geometry.dims) - 1;
  if (params.fold) {
    const bool center = params.fold == Pivot::center;
    geometry.fold = params.first_fastest ? HaloGeometry::Fold{1, 0, center}
                                         : HaloGeometry::Fold{last - 1, last, center};
  }
  return geometry;
}

std::vector<Offset> all_offsets(const HaloGeometry& geometry) {
  std::vector<Offset> found;
  for (int number = 0; number < 81; ++number) {
    const Offset offset{number % 3 - 1, number / 3 % 3 - 1, number / 9 % 3 - 1, number / 27 - 1};
    const auto steps =
        std::count_if(offset.begin(), offset.end(), [](int step) { return step != 0; });
    const bool beyond_dims = std::any_of(
        offset.begin() + geometry.dims, offset.end(), [](int step) { return step != 0; });
    if (steps == 0 || beyond_dims || (!geometry.full && steps > 1)) continue;
    found.push_back(offset);
  }
  return found;
}

std::vector<Offset> neighbor_offsets(const HaloGeometry& geometry) {
  std::vector<Offset> found = all_offsets(geometry);
  std::erase_if(found, [&](const Offset& offset) { return !neighbor_rank(geometry, offset); });
  return found;
}

int offset_number(const Offset& offset) {
  return offset[0] + 1 + 3 * (offset[1] + 1) + 9 * (offset[2] + 1) + 27 * (offset[3] + 1);
}

Offset opposite(const Offset& offset) { return {-offset[0], -offset[1], -offset[2], -offset[3]}; }

std::optional<int> neighbor_rank(const HaloGeometry& geometry, const Offset& offset) {
  std::int64_t rank = geometry.rank;
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    std::int64_t target = geometry.position[d] + offset[d];
    if (target < 0 || target >= geometry.grid[d]) {
      if (!geometry.periodic[d]) return std::nullopt;
      target = (target + geometry.grid[d]) % geometry.grid[d];
    }
    rank += (target - geometry.position[d]) * geometry.rank_stride[d];
  }
  return static_cast<int>(rank);
}

Box send_box(const HaloGeometry& geometry, const Offset& offset) {
  Box box;
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    box.lo[d] = offset[d] > 0 ? geometry.extent[d] : geometry.halo[d];
    box.hi[d] = box.lo[d] + (offset[d] == 0 ? geometry.extent[d] : geometry.halo[d]);
  }
  return box;
}

Box ghost_box(const HaloGeometry& geometry, const Offset& offset) {
  Box box;
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    const std::int64_t starts[3] = {0, geometry.halo[d], geometry.halo[d] + geometry.extent[d]};
    box.lo[d] = starts[offset[d] + 1];
    box.hi[d] = box.lo[d] + (offset[d] == 0 ? geometry.extent[d] : geometry.halo[d]);
  }
  return box;
}

Coordinates extended(const HaloGeometry& geometry) {
  Coordinates cells;
  for (std::size_t d = 0; d < max_dimensions; ++d)
    cells[d] = geometry.extent[d] + 2 * geometry.halo[d];
  return cells;
}

std::int64_t cells_per_array(const HaloGeometry& geometry) {
  std::int64_t cells = 1;
  for (std::int64_t along : extended(geometry)) cells *= along;
  return cells;
}

}  // namespace parhelion::bench

#include "parhelion/index_map/places.hpp"

#include <limits>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"

namespace parhelion {
namespace {

global_index cells_in(const std::vector<global_index>& extents) {
  global_index cells = 1;
  for (const global_index extent : extents) {
    if (extent < 0)
      refuse("the cells of arrays have an extent of ", extent, ": give extents of at least 0");
    cells = checked_product({cells, extent}, "the number of cells of an array");
  }
  return cells;
}

void check_count(std::size_t given, local_index needed, const std::string& name) {
  if (given != static_cast<std::size_t>(needed))
    refuse(given, " places of ", name, " were passed, but the map has ", needed,
        " of them: give one for each, in their order");
}

// The dimension must continue the single component stride.
void join_components(CellValues& values, const CellAxis& axis, const std::string& array) {
  if (axis.extent < 1 || axis.extent > (global_index{1} << 24) / values.components)
    refuse(array, " has components of extent ", axis.extent, ": pass 1 to 2^24 components");
  if (axis.extent == 1) return;
  if (values.components == 1) values.component_stride = axis.stride;
  else if (axis.stride != values.components * values.component_stride)
    refuse(array,
        " has components in several dimensions that are not contiguous: do not slice these "
        "dimensions");
  values.components *= axis.extent;
}

}  // namespace

void check_places(const Places& places, local_index owned, local_index ghosts) {
  check_count(places.owned.size(), owned, "owned cells");
  check_count(places.ghosts.size(), ghosts, "ghosts");
  if (places.extents.size() > max_dimensions)
    refuse("cells of arrays have at most ", max_dimensions, " dimensions and ",
        places.extents.size(), " extents were given: merge contiguous dimensions");
  const auto dimensions = std::max<std::size_t>(places.extents.size(), 1);
  if (places.components_at < 0 || places.components_at > static_cast<int>(dimensions))
    refuse("components come before dimension 0 … ", dimensions, " of the cells, not before ",
        places.components_at);
  std::vector<local_index> all = places.owned;
  all.insert(all.end(), places.ghosts.begin(), places.ghosts.end());
  std::ranges::sort(all);
  constexpr global_index most = std::numeric_limits<local_index>::max();
  const global_index cells =
      places.extents.empty() ? most : std::min(most, cells_in(places.extents));
  if (!all.empty() && (all.front() < 0 || all.back() >= cells))
    refuse("place ", all.front() < 0 ? all.front() : all.back(), " is not in an array of ", cells,
        " cells: a place is the number of a cell there, from 0");
  if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
    refuse("two cells have the place ", *twice,
        ": give each owned cell and each ghost one of its own");
}

void refuse_places(const std::optional<Places>& places) {
  if (places)
    refuse(
        "the map has places, and this call needs arrays of owned cells, then ghosts: use "
        "the original map, or exchange by the map's own calls");
}

CellValues values_in(const Places& places, const ArrayShape& array) {
  const std::size_t dimensions = std::max<std::size_t>(places.extents.size(), 1);
  const std::string name = concat("an array of ", array.rank, " dimensions");
  if (array.rank < dimensions)
    refuse(name, " was passed, but the cells of the map have ", dimensions,
        " in arrays: pass that many, or more for components");
  const std::size_t more = array.rank - dimensions, at = places.components_at;
  CellValues values{{array.first, 0}, {}, array.element};
  for (std::size_t d = 0; d < array.rank; ++d) {
    const CellAxis axis{array.extents[d], array.strides[d]};
    if (d >= at && d < at + more) {
      join_components(values, axis, name);
      continue;
    }
    const std::size_t cell = d < at ? d : d - more;
    values.axes[cell] = axis;
    if (!places.extents.empty() && axis.extent != places.extents[cell])
      refuse(name, " has ", axis.extent, " cells along a dimension in which the map's places have ",
          places.extents[cell], ": pass arrays of the extents given to the map");
  }
  values.owned.stride = values.axes[0].stride;
  values.elements = values.components;
  for (std::size_t d = 0; d < dimensions; ++d) values.elements *= values.axes[d].extent;
  return values;
}

}  // namespace parhelion

#include "parhelion/index_map/cell_values.hpp"

#include "core/concat.hpp"

namespace parhelion {
namespace {

const Field& checked(const Field& view) {
  if (!view.indexed || view.blocks.size() != 2)
    throw Error("an array of a grid was passed to an index map: view it with the map's domain",
        ErrorKind::type);
  for (std::size_t b = 0; b < 2; ++b)
    if (view.components > 1 && view.stride_of_components(b) != view.element.size)
      refuse(
          "components of a cell are not contiguous: use an Exchange, or pass each "
          "component alone");
  return view;
}

}  // namespace

CellValues::CellValues(const Field& view)
    : CellValues({checked(view).blocks[0].first, view.blocks[0].strides[0]},
          {view.blocks[1].first, view.blocks[1].strides[0]}, view.element, view.components) {}

}  // namespace parhelion

#include "parhelion/plan/array_like.hpp"
#include "core/concat.hpp"

namespace parhelion {
namespace {

// A matrix of one row or column, as a vector.
ArrayShape without_single(ArrayShape array, std::size_t rank) {
  if (array.rank != 2 || rank != 1) return array;
  if (array.extents[0] == 1 && array.extents[1] != 1)
    array.extents[0] = array.extents[1], array.strides[0] = array.strides[1];
  else if (array.extents[1] != 1) return array;
  array.rank = 1;
  return array;
}

void require_rank(const ArrayShape& array, std::size_t dimensions) {
  if (array.rank == dimensions || array.rank == dimensions + 1) return;
  refuse("an array of ", array.rank, " dimensions was passed for a domain of ", dimensions,
      ": pass as many, or one more, the last, for components");
}

int components_of(const ArrayShape& array, std::size_t dimensions) {
  const global_index components = array.rank > dimensions ? array.extents[dimensions] : 1;
  if (components < 1 || components > (1 << 30))
    refuse("an array has ", components, " components along its last dimension: pass at least 1");
  return components;
}

}  // namespace

Field view_shape(const CartesianDomain& domain, const ArrayShape& array, ArrayLayout layout) {
  return view_shapes(domain, {&array, 1}, std::move(layout));
}

Field view_shapes(
    const CartesianDomain& domain, std::span<const ArrayShape> arrays, ArrayLayout layout) {
  const auto dimensions = static_cast<std::size_t>(domain.dimensions());
  if (domain.blocks().size() != arrays.size())
    refuse("the rank has ", domain.blocks().size(), " blocks and ", arrays.size(),
        " arrays were passed: pass one array per block (view_blocks)");
  const std::vector<std::byte*> nowhere(arrays.size());
  Field field;
  for (std::size_t b = 0; b < arrays.size(); ++b) {
    const ArrayShape array = without_single(arrays[b], dimensions);
    require_rank(array, dimensions);
    const int components = components_of(array, dimensions);
    if (b == 0) {
      layout.components = components;
      field = view_blocks(domain, nowhere, array.element, layout);
    } else if (components != field.components || array.element != field.element) {
      refuse(
          "the blocks of a field differ in type or components: pass arrays of one "
          "type");
    }
    const auto needed = array_extents(domain, layout, static_cast<int>(b));
    const Coordinates first = first_of(domain, field, static_cast<int>(b));
    BlockView block{array.first, {}};
    for (std::size_t d = 0; d < dimensions; ++d) {
      const int lower = field.array_halo.lower[d], upper = field.array_halo.upper[d];
      if (array.extents[d] != needed[d])
        refuse("the array has ", array.extents[d], " values in dimension ", d, " and ",
            needed[d] - lower - upper, " of its own with halos of ", lower, " and ", upper,
            " take ", needed[d], ": make them equal, or give the array's halo");
      block.strides[d] = array.strides[d];
      if (block.first != nullptr)
        block.first += (first[d] - domain.blocks()[b].held.lo[d] + lower) * array.strides[d];
    }
    block.component_stride =
        array.rank > dimensions ? array.strides[dimensions] : byte_count{array.element.size};
    if (b == 0) field.component_stride = block.component_stride;
    field.blocks[b] = block;
  }
  return field;
}

Field view_shape(const IndexedDomain& domain, const ArrayShape& given) {
  const ArrayShape array = given.extents[0] == domain.size() ? given : without_single(given, 1);
  require_rank(array, 1);
  if (array.extents[0] != domain.size())
    refuse("the array has ", array.extents[0], " cells along its first dimension and the domain ",
        domain.owned(), " owned ones and ", domain.ghosts(), " ghosts: make them equal");
  Field field{array.element, components_of(array, 1), 0, 0, true, {}};
  const byte_count stride = array.strides[0],
                   component = array.rank > 1 ? array.strides[1] : byte_count{array.element.size};
  std::byte* const ghosts =
      array.first == nullptr ? nullptr : array.first + domain.owned() * stride;
  field.component_stride = component;
  field.blocks = {{array.first, {stride}, component}, {ghosts, {stride}, component}};
  return field;
}

}  // namespace parhelion

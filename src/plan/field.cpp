#include "parhelion/plan/field.hpp"

#include <algorithm>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "plan/device/driver.hpp"

namespace parhelion {

namespace {

Stagger total_stagger(const CartesianDomain& domain, const Stagger& more) {
  Stagger all;
  for (int d = 0; d < domain.dimensions(); ++d)
    all.along[d] = static_cast<std::int16_t>(domain.stagger().along[d] + more.along[d]);
  return all;
}

HaloWidth or_else(const HaloWidth& asked, const HaloWidth& otherwise, int dimensions) {
  HaloWidth width = 0;
  for (int d = 0; d < dimensions; ++d) {
    width.lower[d] = asked.lower[d] == as_domain ? otherwise.lower[d] : asked.lower[d];
    width.upper[d] = asked.upper[d] == as_domain ? otherwise.upper[d] : asked.upper[d];
  }
  return width;
}

HaloWidth array_halo_of(const CartesianDomain& domain, const ArrayLayout& layout) {
  return or_else(layout.array_halo, domain.halo(), domain.dimensions());
}

HaloWidth depth_of(const CartesianDomain& domain, const ArrayLayout& layout, HaloWidth most) {
  for (int d = 0; d < domain.dimensions(); ++d) {
    most.lower[d] = std::min(most.lower[d], domain.halo().lower[d]);
    most.upper[d] = std::min(most.upper[d], domain.halo().upper[d]);
  }
  return or_else(layout.depth, most, domain.dimensions());
}

void require_widths(const CartesianDomain& domain, const ArrayLayout& layout) {
  require_dimensions(layout.array_halo.listed, domain.dimensions(), "the halo width of an array");
  require_dimensions(layout.depth.listed, domain.dimensions(), "the depth");
  require_dimensions(layout.stagger.listed, domain.dimensions(), "stagger");
}

Box array_box(const CartesianDomain& domain, const ArrayLayout& layout, const HaloWidth& array_halo,
    int block) {
  Box held = domain.blocks().at(block).held;
  for (int d = 0; d < domain.dimensions(); ++d) held.hi[d] += layout.stagger.more(d);
  return grow(held, array_halo, domain.dimensions());
}

BlockView view_array(const Box& all, const Coordinates& first, int dimensions, std::byte* array,
    byte_count element, const ArrayLayout& layout) {
  BlockView view{array, {}};
  byte_count stride = layout.order == Order::c ? element * layout.components : element;
  for (int i = 0; i < dimensions; ++i) {
    const int d = layout.order == Order::c ? dimensions - 1 - i : i;
    view.strides[d] = stride;
    if (array != nullptr)
      view.first += (first[d] - all.lo[d]) * stride;  // keeps null, which is detected later
    stride = checked_product({stride, all.extent(d)}, "the size of an array");
  }
  if (layout.order != Order::c)
    checked_product({stride, layout.components}, "the size of an array");
  view.component_stride = layout.order == Order::c ? element : stride;
  return view;
}

// Of the first non-null array. Called often: never searches for a driver.
MemorySpace space_of(std::byte* const* arrays, std::size_t count) {
  if (device::driver_in_use() == nullptr) return MemorySpace::host;
  const auto* const first =
      std::find_if(arrays, arrays + count, [](const std::byte* each) { return each != nullptr; });
  return first != arrays + count && device_of(*first) >= 0 ? MemorySpace::device
                                                           : MemorySpace::host;
}

Field view_arrays(const CartesianDomain& domain, std::byte* const* arrays, std::size_t count,
    Element element, const ArrayLayout& layout) {
  if (count != domain.blocks().size())
    refuse("the rank has ", domain.blocks().size(), " blocks and ", count,
        " arrays were passed: pass one array per block");
  require_widths(domain, layout);
  const int dimensions = domain.dimensions();
  const HaloWidth array_halo = array_halo_of(domain, layout);
  Field field{element, layout.components, element.size, depth_of(domain, layout, array_halo), false,
      {}, space_of(arrays, count), total_stagger(domain, layout.stagger), domain.boundary(),
      array_halo, static_cast<std::int8_t>(std::clamp(layout.sign, -2, 2)),
      static_cast<std::int8_t>(std::clamp(layout.along, -1, max_dimensions)),
      static_cast<std::int16_t>(layout.vector > largest_vector ? -1 : std::max(layout.vector, -1))};
  for (int b = 0; b < static_cast<int>(count); ++b)
    field.blocks.push_back(view_array(array_box(domain, layout, array_halo, b),
        first_of(domain, field, b), dimensions, arrays[b], element.size, layout));
  field.component_stride = field.blocks.front().component_stride;
  return field;
}

}  // namespace

std::vector<global_index> array_extents(
    const CartesianDomain& domain, const ArrayLayout& layout, int block) {
  require_widths(domain, layout);
  const Box all = array_box(domain, layout, array_halo_of(domain, layout), block);
  std::vector<global_index> extents;
  for (int d = 0; d < domain.dimensions(); ++d) extents.push_back(all.extent(d));
  return extents;
}

Coordinates first_of(const CartesianDomain& domain, const Field& field, int block) {
  const Block& of = domain.blocks().at(block);
  Coordinates first = of.owned.lo;
  for (int d = 0; d < domain.dimensions(); ++d)
    if (field.boundary == Boundary::owned && !domain.axis(d).periodic && of.position[d] == 0)
      first[d] -= field.halo.lower[d];
  return first;
}

const char* to_string(MemorySpace space) { return space == MemorySpace::host ? "host" : "device"; }

Field view_block(
    const CartesianDomain& domain, std::byte* array, Element element, const ArrayLayout& layout) {
  return view_arrays(domain, &array, 1, element, layout);
}

Field view_blocks(const CartesianDomain& domain, const std::vector<std::byte*>& arrays,
    Element element, const ArrayLayout& layout) {
  return view_arrays(domain, arrays.data(), arrays.size(), element, layout);
}

Field view_whole(
    const CartesianDomain& domain, std::byte* array, Element element, const ArrayLayout& layout) {
  const CartesianDomain points = domain.staggered(layout.stagger);
  Box all;
  for (int d = 0; d < points.dimensions(); ++d) all.hi[d] = points.axis(d).extent;
  Field field{element, layout.components, 0, 0, false, {}};
  field.stagger = points.stagger();
  field.space = space_of(&array, 1);
  field.blocks.push_back(view_array(all, {}, points.dimensions(), array, element.size, layout));
  return field;
}

Field view_cells(std::byte* owned, local_index owned_cells, std::byte* ghosts,
    local_index ghost_cells, Element element, ArrayLayout layout) {
  Field field{element, layout.components, element.size, 0, true, {}};
  std::byte* const arrays[2] = {owned, ghosts};
  field.space = space_of(arrays, 2);
  if (layout.order == Order::c) {
    const byte_count stride = byte_count{element.size} * layout.components;
    field.blocks = {{owned, {stride}}, {ghosts, {stride}}};
    return field;
  }
  const byte_count owned_row = byte_count{owned_cells} * element.size,
                   ghost_row = byte_count{ghost_cells} * element.size;
  const bool joined = owned != nullptr && ghosts == owned + owned_row;
  field.component_stride = owned_row + ghost_row;
  field.blocks = {{owned, {element.size}, joined ? 0 : owned_row},
      {ghosts, {element.size}, joined ? 0 : ghost_row}};
  return field;
}

std::string to_string(const Field& field) {
  std::string text = concat(to_string(field.element), " × ", field.components);
  if (field.space != MemorySpace::host) text += concat(" in ", to_string(field.space), " memory");
  if (field.indexed) return text + ", indexed";
  text += ", halo";
  for (int d = 0; d < max_dimensions; ++d)
    text += concat(" ", field.halo.lower[d], "/", field.halo.upper[d]);
  if (field.stagger == Stagger()) return text;
  text += ", stagger";
  for (const int points : field.stagger.along) text += concat(" ", points);
  return text;
}

}  // namespace parhelion

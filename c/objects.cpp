// Conversions from C.
#include "objects.hpp"

namespace parhelion::c {
namespace {

Field field_of(
    const CartesianDomain& domain, const phl_field& given, Element element, ArrayLayout layout) {
  const int dimensions = domain.dimensions();
  if (given.own_halo)
    layout.array_halo = width_from(given.halo_lower, given.halo_upper, dimensions, "halo width");
  if (given.own_depth)
    layout.depth = width_from(given.depth_lower, given.depth_upper, dimensions, "depth");
  layout.stagger = stagger_from(given.stagger, dimensions);
  layout.sign = given.changes_sign ? -1 : 1;
  layout.vector = given.vector, layout.along = given.along;
  if (!given.blocks && !given.block_count)
    return view_block(domain, static_cast<std::byte*>(given.cells), element, layout);
  std::vector<std::byte*> blocks;
  for (void* array : List(given.blocks, given.block_count, "blocks"))
    blocks.push_back(static_cast<std::byte*>(array));
  return view_blocks(domain, blocks, element, layout);
}

Field field_of(const IndexedDomain& domain, const phl_field& given, Element element,
    const ArrayLayout& layout) {
  auto* owned = static_cast<std::byte*>(given.cells);
  auto* ghosts = static_cast<std::byte*>(given.ghosts);
  const int components = layout.order == Order::c ? layout.components : 1;
  if (!ghosts && owned) ghosts = owned + byte_count{domain.owned()} * element.size * components;
  return view_cells(owned, domain.owned(), ghosts, domain.ghosts(), element, layout);
}

}  // namespace

HaloWidth width_from(const int32_t* lower, const int32_t* upper, int dimensions, const char* what) {
  HaloWidth width = 0;
  for (int d = 0; d < dimensions; ++d) {
    width.lower[d] = lower[d];
    width.upper[d] = upper[d];
    if (lower[d] < 0 || upper[d] < 0) refuse("a field has a negative ", what, ": pass 0 or more");
  }
  return width;
}

Stagger stagger_from(const int32_t* along, int dimensions) {
  Stagger stagger;  // keeps invalid values invalid: their use reports them
  for (int d = 0; d < dimensions; ++d)
    stagger.along[d] = static_cast<std::int16_t>(std::clamp(along[d], -2, 1000));
  return stagger;
}

Element element_from(phl_element element) {
  const auto scalar = in_range<Scalar>(element.scalar, PHL_SCALAR_COUNT - 1, "element type");
  const int size = scalar == Scalar::bytes ? element.bytes : size_of(scalar);
  if (size < 1 || (element.bytes != 0 && element.bytes != size))
    throw Error(concat("elements of ", element.bytes, " bytes do not fit element type ",
                    element.scalar, ": give the size of opaque elements, 0 for others"),
        ErrorKind::type);
  return {scalar, size};
}

ExchangeOptions options_from(const phl_exchange_options* given) {
  ExchangeOptions options;
  if (!given) return options;
#define PHL_COPY(kind, name) options.name = or_empty(given->name);
  PHL_EXCHANGE_OPTIONS(PHL_COPY)
#undef PHL_COPY
  return options;
}

Source::Source(phl_cartesian domain) : grid_(get(domain)) {}
Source::Source(phl_index_map map) : map_(*get(map)) {
  refuse_places(map_->places());
  map_->refuse_subset();
}
Source::Source(phl_cartesian domain, phl_index_map map, int group) {
  if (!domain == !map)
    refuse("group ", group, " needs either a domain or an index map: leave the other NULL");
  *this = domain ? Source(domain) : Source(map);
}

Field Source::view(const phl_field& given) const {
  const Element element = element_from(given.element);
  const ArrayLayout layout{in_range<Order>(given.order, PHL_ORDER_FORTRAN, "order"),
      std::max(given.element.components, 1)};
  Field field =
      grid_ ? field_of(*grid_, given, element, layout) : field_of(*cells(), given, element, layout);
  if (in_range(given.space, PHL_DEVICE, "memory space"))
    field.space = MemorySpace::device;  // else detected
  return field;
}

GivenGroup group_of(const Source& source, const phl_field* fields, int count) {
  GivenGroup group{source, {}};
  for (const phl_field& each : List(fields, count, "fields")) {
    group.fields.push_back(source.view(each));
    group.made.push_back({source, {}, {}, 1u + (each.ghosts != nullptr)});
  }
  return group;
}

const std::vector<Field>& FieldsObject::views(const phl_field* given, int count) {
  const List fields(given, count, "fields");
  if (count != 0 && count != std::ssize(made))
    refuse(count, " fields were passed, but the exchange needs ", made.size(),
        ": pass one for each, in order, or none");
  called.clear();
  for (const phl_field& each : fields) {
    const MadeField& like = made[called.size()];
    if (like.source.cells() != nullptr && (each.ghosts != nullptr) != (like.arrays == 2))
      refuse("field ", called.size(),
          " has its ghosts elsewhere than in the constructor: pass them behind the owned cells, or "
          "apart");
    called.push_back(like.source.view(each));
  }
  return called;
}

void FieldsObject::end() {
  if (!under_way()) refuse("no exchange is under way: call begin first");
  step->end();
  step.reset();
}

}  // namespace parhelion::c

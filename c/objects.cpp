// Handles, and conversions from C.
#include "objects.hpp"

#include <algorithm>
#include <mutex>

namespace parhelion::c {
namespace {

struct Slot {
  std::shared_ptr<void> object;
  std::uint32_t uses = 1;
};
static_assert(sizeof(std::uintptr_t) == 8, "handles need 64 bits");

// Never destroyed: handles may outlive main.
struct HandleTable {
  std::mutex mutex;
  std::vector<Slot> slots;
};
HandleTable& table() {
  static auto* const all = new HandleTable;
  return *all;
}

Slot& find(std::uintptr_t handle, Kind kind) {
  const auto refuse = [=](const char* why) {
    throw HandleError(concat(kind.name, " handle ", why));
  };
  if (handle == 0) refuse("is null: make one first, and do not use it after it was freed");
  if ((handle & 0xf) != kind.number)
    refuse("is of another kind: pass what the create function gave");
  auto& slots = table().slots;
  const std::size_t slot = (handle & 0xffffffff) >> 4;
  if (slot >= slots.size() || !slots[slot].object || slots[slot].uses != handle >> 32)
    refuse("was freed already: free it once, and do not keep copies of it");
  return slots[slot];
}

ArrayLayout layout_from(const phl_field& given) {
  return {in_range<Order>(given.order, PHL_ORDER_FORTRAN, "order"),
      std::max(given.element.components, 1)};
}

Field field_of(const CartesianDomain& domain, const phl_field& given) {
  const int dimensions = domain.dimensions();
  ArrayLayout layout = layout_from(given);
  if (given.own_halo)
    layout.array_halo = width_from(given.halo_lower, given.halo_upper, dimensions, "halo width");
  if (given.own_depth)
    layout.depth = width_from(given.depth_lower, given.depth_upper, dimensions, "depth");
  layout.stagger = stagger_from(given.stagger, dimensions);
  layout.sign = given.changes_sign != 0 ? -1 : 1;
  layout.vector = given.vector, layout.along = given.along;
  require_array(given.blocks, given.block_count, "blocks");
  void* const* const arrays = given.blocks != nullptr ? given.blocks : &given.cells;
  const std::size_t count =
      given.blocks != nullptr ? static_cast<std::size_t>(given.block_count) : 1;
  for (std::size_t b = 0; b < count && b < domain.blocks().size(); ++b)
    if (arrays[b] == nullptr && !domain.blocks()[b].owned.empty())
      refuse("a field's array is a null pointer: pass an array that is allocated");
  const Element element = element_from(given.element);
  if (count == 1) return view_block(domain, static_cast<std::byte*>(arrays[0]), element, layout);
  std::vector<std::byte*> blocks(count);
  std::transform(arrays, arrays + count, blocks.begin(),
      [](void* array) { return static_cast<std::byte*>(array); });
  return view_blocks(domain, blocks, element, layout);
}

Field field_of(const IndexedDomain& domain, const phl_field& given) {
  const Element element = element_from(given.element);
  const ArrayLayout layout = layout_from(given);
  auto* owned = static_cast<std::byte*>(given.cells);
  auto* ghosts = static_cast<std::byte*>(given.ghosts);
  const byte_count width =
      byte_count{element.size} * (layout.order == Order::c ? layout.components : 1);
  if (ghosts == nullptr && owned != nullptr) ghosts = owned + domain.owned() * width;
  return view_cells(owned, domain.owned(), ghosts, domain.ghosts(), element, layout);
}

void copy_option(const char* from, std::string& to) { to = from != nullptr ? from : ""; }
void copy_option(double from, double& to) { to = from; }
void copy_option(std::int32_t from, int& to) { to = from; }
void copy_option(std::int32_t from, bool& to) { to = from != 0; }

}  // namespace

void reserve_handle() {
  const std::lock_guard lock(table().mutex);
  auto& slots = table().slots;
  if (slots.size() == slots.capacity()) slots.reserve(2 * slots.size() + 8);
}

std::uintptr_t keep_object(std::shared_ptr<void> object, Kind kind) {
  const std::lock_guard lock(table().mutex);
  auto& slots = table().slots;
  std::size_t slot = 0;
  while (slot < slots.size() && slots[slot].object) ++slot;
  if (slot == slots.size()) slots.push_back({});
  slots[slot].object = std::move(object);
  return std::uintptr_t{slots[slot].uses} << 32 | slot << 4 | kind.number;
}

std::shared_ptr<void> object_at(std::uintptr_t handle, Kind kind) {
  const std::lock_guard lock(table().mutex);
  return find(handle, kind).object;
}

void drop_object(std::uintptr_t handle, Kind kind) {
  std::shared_ptr<void> last;  // destroyed after the lock
  const std::lock_guard lock(table().mutex);
  Slot& slot = find(handle, kind);
  ++slot.uses;
  last.swap(slot.object);
}

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

Seam seam_from(const phl_seam& given, bool has_tiles, int dimensions) {
  const auto side = [&](int axis, int which, int tile) -> TileSide {
    const bool is_lower = in_range(which, PHL_LOWER, "side") == PHL_LOWER;
    return {axis, is_lower ? Side::lower : Side::upper, has_tiles ? tile : TileSide::every_tile};
  };
  Seam seam{side(given.from_axis, given.from_side, given.from_tile),
      side(given.to_axis, given.to_side, given.to_tile)};
  if (std::ranges::any_of(given.axes, std::identity()))
    seam.axes.assign(given.axes, given.axes + dimensions);
  seam.backward = static_cast<std::uint8_t>(std::clamp(given.backward, 0, 0xff));
  seam.pivot = in_range<Pivot>(given.pivot, PHL_PIVOT_CENTER, "pivot");
  return seam;
}

Element element_from(phl_element element) {
  const int scalar = in_range(element.scalar, PHL_SCALAR_COUNT - 1, "element type");
  const int size = scalar == PHL_BYTES ? element.bytes : size_of(static_cast<Scalar>(scalar));
  if (size < 1 || (element.bytes != 0 && element.bytes != size))
    throw Error(concat("elements of ", element.bytes, " bytes do not fit element type ", scalar,
                    ": give the size of opaque elements, 0 for others"),
        ErrorKind::type);
  return {static_cast<Scalar>(scalar), size};
}

ExchangeOptions options_from(const phl_exchange_options* given) {
  ExchangeOptions options;
  if (given == nullptr) return options;
#define PHL_COPY(kind, name) copy_option(given->name, options.name);
  PHL_EXCHANGE_OPTIONS(PHL_COPY)
#undef PHL_COPY
  return options;
}

Source::Source(phl_cartesian domain) : grid_(get(domain)) {}
Source::Source(phl_index_map map) : map_(get(map)->map) {
  refuse_places(map_->places());
  map_->refuse_subset();
}
Source::Source(phl_cartesian domain, phl_index_map map, int group) {
  if ((domain == nullptr) == (map == nullptr))
    refuse(
        "group ", group, " needs a domain or an index map, one of the two: leave the other NULL");
  *this = domain != nullptr ? Source(domain) : Source(map);
}

Field Source::view(const phl_field& given) const {
  Field field = grid_ ? field_of(grid_->grid, given) : field_of(*cells(), given);
  if (in_range(given.space, PHL_DEVICE, "memory space") == PHL_DEVICE)
    field.space = MemorySpace::device;  // else detected
  return field;
}

std::vector<Field> Source::views(const phl_field* given, int count, const char* name) const {
  std::vector<Field> all;
  require_array(given, count, name);
  for (int f = 0; f < count; ++f) all.push_back(view(given[f]));
  return all;
}

GivenGroup group_of(const Source& source, const phl_field* given, int count, const char* name) {
  GivenGroup group{source, source.views(given, count, name)};
  for (std::size_t f = 0; f < group.made.size(); ++f)
    if (given[f].ghosts != nullptr) group.made[f].arrays = 2;
  return group;
}

const std::vector<Field>& FieldsObject::views(const phl_field* given, int count) {
  require_array(given, count, "fields");
  if (count != 0 && count != static_cast<int>(made.size()))
    refuse(count, " fields were passed and the exchange was made for ", made.size(),
        ": pass one for each, in that order, or none for those that it was made with");
  called.clear();
  for (const phl_field& each : std::span(given, static_cast<std::size_t>(count))) {
    const MadeField& like = made[called.size()];
    if (like.source.cells() != nullptr && (each.ghosts != nullptr) != (like.arrays == 2))
      refuse("field ", called.size(),
          " has another place for its ghosts (behind the owned cells, or apart) than "
          "the exchange was made for: pass arrays like those that it was made with");
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

#include "parhelion/plan/bound_arrays.hpp"

#include <algorithm>
#include <bit>

#include "core/concat.hpp"
#include "plan/array_block.hpp"
#include "plan/device/driver.hpp"
#include "plan/overlap.hpp"

namespace parhelion {
namespace {

constexpr auto right_arrays =
    ": pass arrays of the constructor's layouts, or construct another exchange, on every "
    "rank";

[[noreturn]] void mismatch(const std::string& array, const std::string& has, const auto& made_for) {
  refuse(array, " has ", has, ", but the exchange needs ", made_for, right_arrays);
}

}  // namespace

BoundArrays::BoundArrays(const Plan& plan, const BoundArrays* whole)
    : plan_(plan), bases_(plan.bases), wanted_(plan.bases),
      device_(whole != nullptr ? whole->device_ : -1) {
  known_.fill(plan.bases);
  for_blocks(plan, [this](int f, int b) { add_shape(f, b); });
}

// Ignores arrays without cells, and strides of dimensions with a single cell.
void BoundArrays::add_shape(int f, int b) {
  const Field& field = plan_.fields[f];
  const Pattern& pattern = plan_.pattern_of(f);
  const ArrayBlock block = array_block(plan_, f, b);
  Shape& shape = shapes_.emplace_back();
  shape.low = block.begin - block.first;
  shape.high = block.end - block.first;
  if (block.empty()) return;
  if (device_ < 0 && plan_.space() == MemorySpace::device) device_ = device_of(block.begin);
  const auto mask = [](bool matters) { return matters ? ~byte_count{0} : 0; };
  shape.components_mask = mask(field.components > 1);
  if (pattern.indexed()) {
    shape.stride_masks[0] = mask(cells_of(pattern, b) > 1);
  } else {
    for (int d = 0; d < pattern.dimensions; ++d)
      shape.stride_masks[d] =
          mask(pattern.blocks[b].extent(d) + field.halo.lower[d] + field.halo.upper[d] > 1);
  }
}

// Every call runs it: branch-free. May reject an equal layout; require_layout decides.
bool BoundArrays::is_like(int f, const Field& given) const {
  const Field& made = plan_.fields[f];
  const std::size_t count = made.blocks.size();
  if (given.blocks.size() != count) return false;
  byte_count differs =
      static_cast<int>(given.element.scalar) ^ static_cast<int>(made.element.scalar);
  differs |= given.element.size ^ made.element.size;
  differs |= given.components ^ made.components;
  differs |= static_cast<int>(given.space) ^ static_cast<int>(made.space);
  differs |= given.indexed ^ made.indexed;
  differs |= static_cast<int>(given.boundary) ^ static_cast<int>(made.boundary);
  differs |= (given.sign ^ made.sign) | (given.vector ^ made.vector) | (given.along ^ made.along);
  differs |= std::bit_cast<byte_count>(given.stagger.along) ^
             std::bit_cast<byte_count>(made.stagger.along);
  const HaloWidth& halo = plan_.depths[f];
  for (std::size_t d = 0; d < max_dimensions; ++d)
    differs |= (given.halo.lower[d] ^ halo.lower[d]) | (given.halo.upper[d] ^ halo.upper[d]);
  const BlockView *one = given.blocks.begin(), *other = made.blocks.begin();
  const Shape* shape = &shapes_[plan_.first_base[f]];
  for (std::size_t b = 0; b < count; ++b, ++one, ++other, ++shape) {
    for (std::size_t d = 0; d < max_dimensions; ++d)
      differs |= (one->strides[d] ^ other->strides[d]) & shape->stride_masks[d];
    const byte_count apart =
        one->component_stride != 0 ? one->component_stride : given.component_stride;
    differs |=
        (apart ^ (other->component_stride != 0 ? other->component_stride : made.component_stride)) &
        shape->components_mask;
    differs |= shape->has_cells() & (one->first == nullptr);
  }
  return differs == 0;
}

void BoundArrays::require_layout(int f, const Field& given) const {
  const Field& made = plan_.fields[f];
  Field as_made = made;  // a subset's halo may be narrower
  as_made.halo = plan_.depths[f];
  const auto array = [f] { return concat("array ", f); };
  if (given.indexed != made.indexed)
    mismatch(array(), given.indexed ? "cells of an index map" : "cells of a grid",
        made.indexed ? "those of an index map" : "those of a grid");
  if (given.element != made.element)
    mismatch(array(), "elements of type " + to_string(given.element), to_string(made.element));
  if (given.components != made.components)
    mismatch(array(), concat(given.components, " components per cell"), made.components);
  // Views made before the driver was loaded say "host": bind queries the address.
  const bool unknown = given.space == MemorySpace::host && device::driver_in_use() != nullptr;
  if (given.space != made.space && !unknown)
    mismatch(array(), concat("its values in ", to_string(given.space), " memory"),
        concat(to_string(made.space), " memory"));
  if (!equal_halo(given.halo, plan_.depths[f], plan_.pattern_of(f).dimensions))
    mismatch(array(), "another halo (" + to_string(given) + ")", to_string(as_made));
  if (given.stagger != made.stagger)
    mismatch(array(), "another stagger (" + to_string(given) + ")", to_string(as_made));
  if (given.sign != made.sign)
    mismatch(array(), concat("sign ", given.sign), concat("sign ", made.sign));
  const auto role = [](const Field& field) {
    if (field.vector == 0) return std::string("a scalar");
    return concat("vector ", field.vector, ", along axis ", field.along);
  };
  if (given.vector != made.vector || given.along != made.along)
    mismatch(array(), role(given), role(made));
  if (given.boundary != made.boundary)
    mismatch(array(), "a domain of another boundary", "one of the other");
  if (given.blocks.size() != made.blocks.size())
    mismatch(array(), concat(given.blocks.size(), " blocks"), made.blocks.size());
  for (int b = 0; b < static_cast<int>(made.blocks.size()); ++b) require_block(f, b, given);
}

void BoundArrays::require_block(int f, int b, const Field& given) const {
  const Field& made = plan_.fields[f];
  const Shape& shape = shapes_[plan_.base_of(f, b)];
  const BlockView &one = given.blocks[b], &other = made.blocks[b];
  const auto array = [&] {
    return concat("array ", f,
        (made.blocks.size() > 1 && !made.indexed ? ", block " + std::to_string(b) : ""));
  };
  if (shape.has_cells() && one.first == nullptr)
    refuse(array(), " is a null pointer: pass the array that the exchange is to fill");
  for (std::size_t d = 0; d < shape.stride_masks.size(); ++d)
    if (shape.stride_masks[d] != 0 && one.strides[d] != other.strides[d])
      mismatch(array(), concat("a stride of ", one.strides[d], " bytes in dimension ", d),
          other.strides[d]);
  if (shape.components_mask != 0 && given.stride_of_components(b) != made.stride_of_components(b))
    mismatch(array(), concat("components ", given.stride_of_components(b), " bytes apart"),
        made.stride_of_components(b));
}

// The plan's own arrays are disjoint; moved by one offset, they remain so.
bool BoundArrays::moved_together() const {
  std::optional<byte_count> moved;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (!shapes_[i].has_cells()) continue;
    const byte_count here = wanted_[i] - plan_.bases[i];
    if (moved && *moved != here) return false;
    moved = here;
  }
  return true;
}

bool BoundArrays::may_overlap() const {
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (shapes_[i].has_cells() && shapes_[j].has_cells() &&
          wanted_[i] + shapes_[i].low < wanted_[j] + shapes_[j].high &&
          wanted_[j] + shapes_[j].low < wanted_[i] + shapes_[i].high)
        return true;
  return false;
}

void BoundArrays::want(const ArrayList& fields) {
  if (fields.size() != plan_.fields.size())
    refuse(fields.size(), " arrays were passed, but the exchange needs ", plan_.fields.size(),
        ": pass one for each, in that order");
  for (int f = 0; f < plan_.field_count(); ++f) {
    const Field& given = fields[f];
    if (!is_like(f, given)) require_layout(f, given);
    int i = plan_.first_base[f];
    for (const BlockView& block : given.blocks) {
      if (shapes_[i].has_cells()) wanted_[i] = block.first;
      ++i;
    }
  }
}

void BoundArrays::require_disjoint() {
  if (std::ranges::find(known_, wanted_) != known_.end()) return;
  if (!moved_together() && may_overlap()) check_disjoint(plan_, wanted_.data());
  std::copy(wanted_.begin(), wanted_.end(), known_[next_known_++ % most_known].begin());
}

void BoundArrays::want_places(const ArrayList& places) {
  if (places.size() != wanted_.size())
    refuse(places.size(), " addresses were passed, but the exchange has ", wanted_.size(),
        " arrays: pass the first cell of each");
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (!shapes_[i].has_cells()) continue;
    wanted_[i] = places.places()[i];
    if (wanted_[i] == nullptr)
      refuse("address ", i, " is a null pointer: pass the array that the exchange is to fill");
  }
}

void BoundArrays::require_device() const {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::byte* const here = wanted_[i] + shapes_[i].low;
    if (shapes_[i].has_cells() && device_of(here) != device_)
      refuse("an array is ", place_text(here), ", but the exchange needs one ",
          (device_ < 0 ? "in the host's memory" : concat("on device ", device_)), right_arrays);
  }
}

void BoundArrays::bind(const ArrayList& arrays) {
  if (arrays.size() == 0) return accept(plan_.bases);
  arrays.places() != nullptr ? want_places(arrays) : want(arrays);
  if (wanted_ == bases_) return;
  if (plan_.space() == MemorySpace::device || device::driver_in_use() != nullptr) require_device();
  require_disjoint();
  accept(wanted_);
}

void BoundArrays::accept(const std::vector<std::byte*>& bases) {
  if (bases == bases_) return;
  std::copy(bases.begin(), bases.end(), bases_.begin());  // transports keep the pointer
  ++version_;
}

}  // namespace parhelion

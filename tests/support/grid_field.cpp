#include "support/grid_field.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace test {

GridField::GridField(const CartesianDomain& domain, const GridSpec& spec, int number, Memory memory)
    : domain_(domain), spec_(spec), number_(number), components_inside_(number % 2 == 0) {
  for (int d = domain.dimensions(); d < max_dimensions; ++d)
    spec_.halo.lower[d] = spec_.halo.upper[d] = spec_.more.lower[d] = spec_.more.upper[d] =
        spec_.stagger.along[d] = 0;
  for (const Block& block : domain.blocks()) {
    Array array;
    array.position = block.position;
    array.owned = model().owned(block.position);
    array.all = grow(model().held(block.position), array_halo(), domain.dimensions());
    lay_out(array);
    arrays_.push_back(std::move(array));
  }
  // A field has one component stride for all blocks: separate components need the largest
  // block's.
  if (spec_.layout == Layout::scattered) {
    if (components_inside_) component_stride_ = spec_.element.size + 5;
    else
      for (const Array& array : arrays_)
        component_stride_ = std::max(component_stride_, array.bytes);
  } else if (spec_.layout == Layout::fortran) {
    for (Array& array : arrays_) component_stride_ = std::max(component_stride_, array.bytes);
  } else {
    component_stride_ = spec_.element.size;
  }
  for (Array& array : arrays_) {
    const bool apart = spec_.layout == Layout::fortran ||
                       (spec_.layout == Layout::scattered && !components_inside_);
    array.memory.emplace(apart ? component_stride_ * spec_.components : array.bytes, memory);
  }
  make_view();
  if (memory == Memory::slow) view_ = as_slow(std::move(view_));
}

HaloWidth GridField::array_halo() const {
  HaloWidth width = spec_.halo;
  for (int d = 0; d < max_dimensions; ++d)
    width.lower[d] += spec_.more.lower[d], width.upper[d] += spec_.more.upper[d];
  return width;
}

// Strides and size of one component, if components are separate.
void GridField::lay_out(Array& array) const {
  if (spec_.layout == Layout::scattered) return scatter(array);
  const int dims = domain_.dimensions();
  byte_count stride = spec_.element.size * (spec_.layout == Layout::c ? spec_.components : 1);
  for (int i = 0; i < dims; ++i) {
    const int d = spec_.layout == Layout::c ? dims - 1 - i : i;
    array.strides[d] = stride;
    array.origin += (array.owned.lo[d] - array.all.lo[d]) * stride;
    stride *= array.all.extent(d);
  }
  array.bytes = stride;
}

void GridField::scatter(Array& array) const {
  std::vector<int> order(static_cast<std::size_t>(domain_.dimensions()));
  std::iota(order.begin(), order.end(), 0);
  std::uint64_t random = mix(static_cast<std::uint64_t>(number_), 77);
  std::sort(
      order.begin(), order.end(), [&](int a, int b) { return mix(random, a) < mix(random, b); });
  byte_count stride =
      components_inside_ ? (spec_.element.size + 5) * spec_.components + 3 : spec_.element.size + 3;
  for (int d : order) {
    const bool backwards = mix(random, d, 1) % 3 == 0;
    array.strides[d] = backwards ? -stride : stride;
    array.origin += stride * (backwards ? array.all.hi[d] - 1 - array.owned.lo[d]
                                        : array.owned.lo[d] - array.all.lo[d]);
    stride = stride * array.all.extent(d) + 1;
  }
  array.bytes = stride;
}

// Uses the library's views for C and Fortran order if possible, to test them too.
void GridField::make_view() {
  std::vector<std::byte*> starts;
  bool equal = true;
  for (Array& array : arrays_) {
    starts.push_back(array.memory->data());
    equal = equal && array.bytes == arrays_[0].bytes;
  }
  if (spec_.layout == Layout::c || (spec_.layout == Layout::fortran && equal)) {
    const Order order = spec_.layout == Layout::c ? Order::c : Order::fortran;
    view_ = view_blocks(domain_, starts, spec_.element,
        {order, spec_.components, spec_.stagger, array_halo(), spec_.halo});
    return;
  }
  view_ = {spec_.element, spec_.components, component_stride_, spec_.halo, false, {},
      MemorySpace::host, spec_.stagger, domain_.boundary(), array_halo()};
  for (Array& array : arrays_)
    view_.blocks.push_back({array.memory->data() + array.origin, array.strides});
}

byte_count GridField::offset(const Array& array, const Coordinates& cell, int component) const {
  byte_count place = array.origin + component * component_stride_;
  for (int d = 0; d < domain_.dimensions(); ++d)
    place += (cell[d] - array.owned.lo[d]) * array.strides[d];
  return place;
}

std::byte* GridField::at(int block, const Coordinates& cell, int component) {
  Array& array = arrays_[static_cast<std::size_t>(block)];
  return array.memory->data() + offset(array, cell, component);
}

std::uint64_t GridField::key(const Coordinates& cell, int component) const {
  return mix(static_cast<std::uint64_t>(number_), static_cast<std::uint64_t>(round_), mix(cell),
      component);
}

std::uint64_t GridField::ghost_key(const AnyBlock& reader, const Coordinates& ghost,
    const Coordinates& source, int component, Reduction reduction) const {
  if (reduction == Reduction::replace) return mix(key(source, component), 12345);
  return mix(key(ghost, component), static_cast<std::uint64_t>(reader.rank), reader.block);
}

void GridField::fill(Values values, int round) {
  values_ = values;
  round_ = round;
  for (Array& array : arrays_) {
    array.memory->wipe();
    for_each_cell(array.owned, [&](const Coordinates& cell) {
      for (int c = 0; c < spec_.components; ++c)
        write_value(
            array.memory->data() + offset(array, cell, c), spec_.element, key(cell, c), values);
    });
    array.memory->expect_as_is();
  }
}

// Calls visit(block number, ghost, source) for each ghost of this rank with a source.
template <class Visit>
void GridField::for_each_ghost(Visit&& visit) {
  for (std::size_t b = 0; b < arrays_.size(); ++b) {
    if (arrays_[b].owned.empty()) continue;
    for_each_cell(arrays_[b].all, [&](const Coordinates& ghost) {
      if (const auto source = model().source_of(arrays_[b].position, ghost))
        visit(static_cast<int>(b), ghost, *source);
    });
  }
}

std::vector<std::byte*> GridField::owned_places() {
  std::vector<std::byte*> places;
  for (std::size_t b = 0; b < arrays_.size(); ++b)
    for_each_cell(arrays_[b].owned, [&](const Coordinates& cell) {
      for (int c = 0; c < spec_.components; ++c) places.push_back(at(static_cast<int>(b), cell, c));
    });
  return places;
}

std::vector<std::byte*> GridField::ghost_places() {
  std::vector<std::byte*> places;
  for_each_ghost([&](int block, const Coordinates& ghost, const Coordinates&) {
    for (int c = 0; c < spec_.components; ++c) places.push_back(at(block, ghost, c));
  });
  return places;
}

void GridField::fill_ghosts(Reduction reduction) {
  for_each_ghost([&](int block, const Coordinates& ghost, const Coordinates& source) {
    const AnyBlock reader{domain_.communicator().rank(), block, {}};
    for (int c = 0; c < spec_.components; ++c)
      write_value(at(block, ghost, c), spec_.element,
          ghost_key(reader, ghost, source, c, reduction), values_);
  });
  for (Array& array : arrays_) array.memory->expect_as_is();
}

void GridField::expect_forward() {
  for_each_ghost([&](int block, const Coordinates& ghost, const Coordinates& source) {
    for (int c = 0; c < spec_.components; ++c)
      write_value(arrays_[static_cast<std::size_t>(block)].memory->expected(at(block, ghost, c)),
          spec_.element, key(source, c), values_);
  });
}

// Loops over the ghosts of all ranks: slow, but independent of the library.
void GridField::expect_reverse(Reduction reduction) {
  const auto combine = [&](const AnyBlock& reader, const Coordinates& ghost,
                           const Coordinates& source) {
    for (std::size_t b = 0; b < arrays_.size(); ++b) {
      if (!contains(arrays_[b].owned, source)) continue;
      for (int c = 0; c < spec_.components; ++c) {
        std::byte value[64];
        write_value(value, spec_.element, ghost_key(reader, ghost, source, c, reduction), values_);
        combine_value(arrays_[b].memory->expected(at(static_cast<int>(b), source, c)), value,
            spec_.element, reduction);
      }
    }
  };
  for (const AnyBlock& reader : all_blocks(domain_))
    for_each_cell(grow(model().held(reader.position), spec_.halo, domain_.dimensions()),
        [&](const Coordinates& ghost) {
          if (const auto source = model().source_of(reader.position, ghost))
            combine(reader, ghost, *source);
        });
}

void GridField::accept_ghosts() {
  for_each_ghost([&](int block, const Coordinates& ghost, const Coordinates&) {
    for (int c = 0; c < spec_.components; ++c)
      arrays_[static_cast<std::size_t>(block)].memory->accept(
          at(block, ghost, c), static_cast<std::size_t>(spec_.element.size));
  });
}

std::string GridField::describe(std::size_t block, const Coordinates& cell, int component) const {
  std::ostringstream out;
  out << "field " << number_ << " (" << to_string(view_) << "), block " << block << ", cell";
  for (int d = 0; d < domain_.dimensions(); ++d) out << " " << cell[d];
  out << ", component " << component
      << (contains(arrays_[block].owned, cell) ? ", owned" : ", ghost");
  return out.str();
}

std::string GridField::difference() const {
  for (std::size_t b = 0; b < arrays_.size(); ++b) {
    const Array& array = arrays_[b];
    if (array.memory->as_expected()) continue;
    std::string first;
    for_each_cell(array.all, [&](const Coordinates& cell) {
      for (int c = 0; c < spec_.components && first.empty(); ++c)
        if (!array.memory->as_expected(array.memory->data() + offset(array, cell, c),
                static_cast<std::size_t>(spec_.element.size)))
          first = describe(b, cell, c);
    });
    return first.empty()
               ? "bytes outside of all cells were written, field " + std::to_string(number_)
               : first;
  }
  return {};
}

bool GridField::canaries_intact() const {
  return std::all_of(arrays_.begin(), arrays_.end(),
      [](const Array& array) { return array.memory->canaries_intact(); });
}

std::vector<std::byte> GridField::copy() const {
  std::vector<std::byte> all;
  for (const Array& array : arrays_) {
    const auto bytes = array.memory->copy();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

void GridField::restore(std::span<const std::byte> copy) {
  for (Array& array : arrays_) array.memory->restore(copy);
}

}  // namespace test

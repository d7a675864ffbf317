#include "halo/arrays.hpp"

#include <algorithm>
#include <cstring>

namespace parhelion::bench {

namespace {

using Strides = std::array<std::ptrdiff_t, 3>;

// A constant run length turns memcpy into a few moves: thin faces are one to five cells wide.
template <class Bytes>
void copy_runs_of(Bytes bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
    const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
  for (std::ptrdiff_t k = 0; k < count[2]; ++k)
    for (std::ptrdiff_t j = 0; j < count[1]; ++j) {
      const std::byte* source = from + k * from_stride[2] + j * from_stride[1];
      std::byte* target = to + k * to_stride[2] + j * to_stride[1];
      for (std::ptrdiff_t i = 0; i < count[0]; ++i)
        std::memcpy(target + i * to_stride[0], source + i * from_stride[0], bytes);
    }
}

template <std::size_t bytes>
constexpr std::integral_constant<std::size_t, bytes> known;

void copy_runs(std::size_t bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
    const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
  const auto copy = [&](auto run) { copy_runs_of(run, from, from_stride, to, to_stride, count); };
  switch (bytes) {
    case 1: return copy(known<1>);
    case 2: return copy(known<2>);
    case 4: return copy(known<4>);
    case 8: return copy(known<8>);
    case 12: return copy(known<12>);
    case 16: return copy(known<16>);
    case 20: return copy(known<20>);
    case 24: return copy(known<24>);
    case 32: return copy(known<32>);
    case 40: return copy(known<40>);
    case 48: return copy(known<48>);
    case 64: return copy(known<64>);
    case 80: return copy(known<80>);
    default: return copy(bytes);
  }
}

Strides dense_strides(const Region& region) {
  auto run = static_cast<std::ptrdiff_t>(region.run_bytes);
  return {run, run * region.count[0], run * region.count[0] * region.count[1]};
}

}  // namespace

std::byte* pack(const Region& from, std::byte* to) {
  copy_runs(from.run_bytes, from.start, from.stride, to, dense_strides(from), from.count);
  return to + from.bytes();
}

const std::byte* unpack(const std::byte* from, const Region& to) {
  copy_runs(to.run_bytes, from, dense_strides(to), to.start, to.stride, to.count);
  return from + to.bytes();
}

void copy(const Region& from, const Region& to) {
  copy_runs(from.run_bytes, from.start, from.stride, to.start, to.stride, from.count);
}

namespace {

struct Cell {
  std::uint64_t id = 0;  // global
  int ghost_dims = 0;
  bool exists = true;    // false beyond a non-periodic end
  bool on_line = false;  // of a center pivot, or in a row that meets it
};

// Of two cells on the line of a center pivot, the first one owns the value.
bool fold_back(const HaloGeometry::Fold& fold, const Coordinates& whole, Coordinates& global) {
  std::int64_t &across = global[fold.folded], &along = global[fold.mirrored];
  const std::int64_t last = whole[fold.folded] - 1, cells = whole[fold.mirrored];
  const std::int64_t outward = fold.center ? 0 : 1;
  const auto inside = [cells](std::int64_t at) { return (at % cells + cells) % cells; };
  const std::int64_t mirrored = inside(cells - outward - along);
  const bool on_line = fold.center && (across == 0 || across == last);
  if (across < 0 || across > last) {
    across = (across < 0 ? -outward : 2 * last + outward) - across;
    along = mirrored;
  } else if (on_line) {
    along = std::min(inside(along), mirrored);
  }
  return on_line || (fold.center && fold.folded == 0);
}

Cell cell_at(const HaloGeometry& geometry, std::int64_t number) {
  const Coordinates cells = extended(geometry);
  Cell cell;
  Coordinates global{}, whole{};
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    const std::int64_t local = number % cells[d] - geometry.halo[d];
    number /= cells[d];
    cell.ghost_dims += local < 0 || local >= geometry.extent[d];
    global[d] = geometry.position[d] * geometry.extent[d] + local;
    whole[d] = geometry.extent[d] * geometry.grid[d];
  }
  if (geometry.fold) cell.on_line = fold_back(*geometry.fold, whole, global);
  std::int64_t id_stride = 1;
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    const bool inside = global[d] >= 0 && global[d] < whole[d];
    cell.exists =
        cell.exists && (inside || (geometry.periodic[d] && !geometry.bare[d][global[d] > 0]));
    cell.id += static_cast<std::uint64_t>((global[d] + whole[d]) % whole[d] * id_stride);
    id_stride *= whole[d];
  }
  return cell;
}

Expect expectation(const HaloGeometry& geometry, const Cell& cell) {
  if (cell.ghost_dims == 0) return Expect::owned;
  return cell.exists && (geometry.full || cell.ghost_dims == 1) ? Expect::ghost : Expect::untouched;
}

}  // namespace

HaloArrays::HaloArrays(
    const HaloGeometry& geometry, const HaloParams& params, std::shared_ptr<const Memory> memory)
    : VerifiedArrays(params.element, params.components, std::move(memory)), geometry_(geometry) {
  for (int f = 0; f < params.fields; ++f) starts_.push_back(block(f));
}

// A row is low ghosts, owned cells, high ghosts along the fastest dimension. On a folded grid ids
// of ghosts, and on a line, may descend: one cell per run.
void HaloArrays::for_each_run(const Visit& visit) const {
  const HaloGeometry& g = geometry_;
  const std::int64_t lengths[3] = {g.halo[0], g.extent[0], g.halo[0]};
  for (int f = 0; f < fields(); ++f)
    for (std::int64_t number = 0; number < cells_per_array(g);)
      for (const std::int64_t length : lengths)
        for (const std::int64_t end = number + length; number < end;) {
          const Cell cell = cell_at(g, number);
          const bool alone = cell.on_line || (g.fold && cell.ghost_dims > 0);
          const std::int64_t cells = alone ? 1 : length;
          visit({field(f) + static_cast<std::size_t>(number) * g.cell_bytes, cells, cell.id,
              expectation(g, cell), f});
          number += cells;
        }
}

Region region_of(const HaloGeometry& geometry, const Box& box, std::byte* field) {
  const Coordinates cells = extended(geometry);
  Region region{field, geometry.cell_bytes * static_cast<std::size_t>(box.extent(0))};
  auto stride = static_cast<std::ptrdiff_t>(geometry.cell_bytes);
  std::size_t level = 0;   // next stride to fill
  bool contiguous = true;  // the box spans whole rows so far
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    region.start += box.lo[d] * stride;
    const std::int64_t size = box.extent(static_cast<int>(d));
    if (d > 0 && contiguous) region.run_bytes *= static_cast<std::size_t>(size);
    else if (d > 0 && size > 1) {
      const bool joins = level > 0 && stride == region.count[level - 1] * region.stride[level - 1];
      if (joins) {
        region.count[level - 1] *= size;
      } else {
        region.count[level] = size;
        region.stride[level++] = stride;
      }
    }
    contiguous = contiguous && size == cells[d];
    stride *= cells[d];
  }
  return region;
}

}  // namespace parhelion::bench

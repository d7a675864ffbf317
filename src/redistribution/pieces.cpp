#include "redistribution/pieces.hpp"

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

using Position = std::array<int, max_dimensions>;

// Positions along an axis of the blocks that intersect [lo, hi).
std::pair<int, int> blocks_along(const Axis& axis, global_index lo, global_index hi) {
  const auto first =
      std::upper_bound(axis.starts.begin(), axis.starts.end(), lo) - axis.starts.begin() - 1;
  const auto end =
      std::lower_bound(axis.starts.begin(), axis.starts.end(), hi) - axis.starts.begin();
  return {static_cast<int>(first), static_cast<int>(end)};
}

Box box_of(const CartesianDomain& domain, const Position& position) {
  Box box;
  for (int d = 0; d < domain.dimensions(); ++d) {
    const int at = position[d];
    box.lo[d] = domain.axis(d).starts[at];
    box.hi[d] = domain.axis(d).starts[at + 1];
  }
  return box;
}

void for_blocks(const CartesianDomain& domain, const Box& box,
    const std::function<void(const Box&, CartesianDomain::Place)>& use, Position position, int d) {
  if (d >= domain.dimensions() || d >= max_dimensions) {
    const CartesianDomain::Place place = domain.place_of(position);
    if (place.rank >= 0) use(box_of(domain, position), place);
    return;
  }
  const auto [first, end] = blocks_along(domain.axis(d), box.lo[d], box.hi[d]);
  for (int b = first; b < end; ++b) {
    position[d] = b;
    for_blocks(domain, box, use, position, d + 1);
  }
}

}  // namespace

void for_blocks(const CartesianDomain& domain, const Box& box,
    const std::function<void(const Box&, CartesianDomain::Place)>& use) {
  for_blocks(domain, box, use, {}, 0);
}

byte_count width_of(const Field& field) {
  return byte_count{field.element.size} * field.components;
}

std::vector<std::byte*> first_cells(const Field& field) {
  std::vector<std::byte*> first;
  for (const BlockView& block : field.blocks) first.push_back(block.first);
  return first;
}

void require_arrays(const CartesianDomain& domain, const Field& field) {
  if (field.indexed || field.blocks.size() != domain.blocks().size())
    throw Error("an array is not one of the domain's: view it with the domain", ErrorKind::type);
  for (std::size_t b = 0; b < field.blocks.size(); ++b)
    if (field.blocks[b].first == nullptr && !domain.owned(b).empty())
      throw Error("an array is a null pointer: pass one for each block that has cells");
}

PlacedCells in_array(
    int dimensions, const Field& field, const Coordinates& first, const Piece& piece) {
  const int b = piece.block;
  const BlockView& view = field.blocks[b];
  PlacedCells cells{piece.block, 0, {}};
  for (int d = 0; d < dimensions; ++d) {
    cells.offset += (piece.cells.lo[d] - first[d]) * view.strides[d];
    cells.stride[d] = view.strides[d];
  }
  cells.stride[dimensions] = field.stride_of_components(b);
  return cells;
}

PlacedCells in_message(int dimensions, const Field& field, const Box& box, byte_count offset) {
  PlacedCells cells{0, offset, {}};
  byte_count stride = field.element.size;
  cells.stride[dimensions] = stride;
  stride *= field.components;
  for (int d = dimensions; d-- > 0; stride *= box.extent(d)) cells.stride[d] = stride;
  return cells;
}

Footprint footprint(
    int dimensions, const Field& field, const PlacedCells& placed, const Box& cells) {
  const auto first = reinterpret_cast<std::intptr_t>(field.blocks[placed.base].first);
  Footprint bytes{first + placed.offset, field.element.size, dimensions + 1, {}, placed.stride};
  for (int d = 0; d < dimensions; ++d) bytes.count[d] = cells.extent(d);
  bytes.count[dimensions] = field.components;
  return bytes;
}

StridedOp between(const PlacedCells& from, const PlacedCells& to, int dimensions,
    const Field& field, const Box& cells) {
  StridedOp op{from.base, to.base, from.offset, to.offset, field.element.size, dimensions + 1, {},
      from.stride, to.stride, field.element.scalar};
  for (int d = 0; d < dimensions; ++d) op.count[d] = cells.extent(d);
  op.count[dimensions] = field.components;
  return op;
}

}  // namespace parhelion

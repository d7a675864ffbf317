#include "redistribution/pieces.hpp"

#include "core/concat.hpp"

namespace parhelion {
namespace {

// Positions along an axis of the blocks that intersect [lo, hi).
std::pair<int, int> blocks_along(const Axis& axis, global_index lo, global_index hi) {
  const auto end = std::ranges::lower_bound(axis.starts, hi) - axis.starts.begin();
  return {block_at(axis, lo), static_cast<int>(end)};
}

}  // namespace

void for_blocks(const CartesianDomain& domain, const Box& box,
    const std::function<void(const Box&, CartesianDomain::Place)>& use) {
  Position first{}, end{1, 1, 1, 1};
  for (int d = 0; d < domain.dimensions(); ++d)
    std::tie(first[d], end[d]) = blocks_along(domain.axis(d), box.lo[d], box.hi[d]);
  for_each_index(first, end, [&](const Position& position) {
    const CartesianDomain::Place place = domain.place_of(position);
    if (place.rank >= 0) use(owned_at(domain, position), place);
  });
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
      refuse("an array is a null pointer: pass one for each block that has cells");
}

BoxLayout box_in_array(
    const Field& field, const Coordinates& first, const Piece& piece, int dimensions) {
  const BlockView& view = field.blocks[piece.block];
  BoxLayout cells{piece.block, 0, dimensions + 1, {}, {}};
  for (int d = 0; d < dimensions; ++d) {
    cells.offset += (piece.cells.lo[d] - first[d]) * view.strides[d];
    cells.count[d] = piece.cells.extent(d);
    cells.stride[d] = view.strides[d];
  }
  cells.count[dimensions] = field.components;
  cells.stride[dimensions] = field.stride_of_components(piece.block);
  return cells;
}

Footprint footprint(const Field& field, const BoxLayout& cells) {
  const auto first = reinterpret_cast<std::intptr_t>(field.blocks[cells.base].first);
  return {first + cells.offset, field.element.size, cells.dims, cells.count, cells.stride};
}

}  // namespace parhelion

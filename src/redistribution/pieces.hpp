// Boxes of cells in blocks, arrays and messages.
#pragma once

#include <numeric>

#include "domain/blocks.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/layout.hpp"
#include "plan/overlap.hpp"

namespace parhelion {

struct Piece {
  int block;  // on its rank
  Box cells;
};
using Pieces = std::vector<Piece>;

/// use(block, place) for all ranks' blocks that intersect `box`, last dimension fastest; skips
/// land.
void for_blocks(const CartesianDomain& domain, const Box& box,
    const std::function<void(const Box& block, CartesianDomain::Place)>& use);

std::vector<std::byte*> first_cells(const Field& field);

/// Throws Error unless the field has one array per block, not null if the block has cells.
void require_arrays(const CartesianDomain& domain, const Field& field);

/// Layout of a piece in an array whose first cell is `first`.
BoxLayout box_in_array(
    const Field& field, const Coordinates& first, const Piece& piece, int dimensions);
/// The bytes of a box in an array of the field.
Footprint footprint(const Field& field, const BoxLayout& cells);

/// Between an array and a message with the pieces from `offset` on, which moves behind them.
/// `place(piece)`: in the array.
template <class Place>
Program copies(const Field& field, std::span<const Piece> pieces, const Place& place, bool packing,
    byte_count& offset) {
  Program program;
  std::vector<int> order;
  for (const Piece& piece : pieces) {
    const BoxLayout array = place(piece);
    if (order.empty()) order.resize(array.dims), std::iota(order.begin(), order.end(), 0);
    const BoxLayout message = box_in_message(array, order, field.element.size, offset);
    program.add(copy_between(packing ? array : message, packing ? message : array, field.element));
    offset += piece.cells.cells() * bytes_per_cell(field);
  }
  return program;
}

}  // namespace parhelion

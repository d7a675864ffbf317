// Boxes of cells in blocks, arrays and messages.
#pragma once

#include "parhelion/plan/executor.hpp"
#include "plan/overlap.hpp"

namespace parhelion {

struct Piece {
  int block;  // on its rank
  Box cells;
};
using Pieces = std::vector<Piece>;

/// Calls `use` with all blocks of `domain`, of any rank, that intersect `box`, last dimension
/// fastest; skips land.
void for_blocks(const CartesianDomain& domain, const Box& box,
    const std::function<void(const Box& block, CartesianDomain::Place)>& use);

byte_count width_of(const Field& field);
std::vector<std::byte*> first_cells(const Field& field);

/// Throws Error unless the field has one array per block, not null if the block has cells.
void require_arrays(const CartesianDomain& domain, const Field& field);

struct PlacedCells {
  int base;
  byte_count offset;
  std::array<byte_count, StridedOp::most_dims> stride;
};
/// In an array whose first cell is `first`.
PlacedCells in_array(
    int dimensions, const Field& field, const Coordinates& first, const Piece& piece);
PlacedCells in_message(int dimensions, const Field& field, const Box& cells, byte_count offset);
/// The bytes of `cells` in an array of the field.
Footprint footprint(
    int dimensions, const Field& field, const PlacedCells& placed, const Box& cells);

StridedOp between(const PlacedCells& from, const PlacedCells& to, int dimensions,
    const Field& field, const Box& cells);
/// Between an array and a message in which the pieces follow each other from `offset` on, which is
/// moved behind them. `place(piece)`: in the array.
template <class Place>
Program copies(int dimensions, const Field& field, std::span<const Piece> pieces,
    const Place& place, bool packing, byte_count& offset) {
  Program program;
  for (const Piece& piece : pieces) {
    const PlacedCells array = place(piece),
                      message = in_message(dimensions, field, piece.cells, offset);
    program.add(between(
        packing ? array : message, packing ? message : array, dimensions, field, piece.cells));
    offset += piece.cells.cells() * width_of(field);
  }
  return program;
}

}  // namespace parhelion

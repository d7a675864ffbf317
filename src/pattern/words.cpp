#include "pattern/words.hpp"

#include "parhelion/core/error.hpp"

namespace parhelion {

void put_box(Words& words, const Box& box) {
  words.insert(words.end(), box.lo.begin(), box.lo.end());
  words.insert(words.end(), box.hi.begin(), box.hi.end());
}

void put_selection(Words& words, const Selection& side) {
  words.push_back(side.boxes.size());
  for (const BoxPiece& piece : side.boxes) {
    words.push_back(piece.block);
    put_box(words, piece.cells);
    put_box(words, piece.owner);
    words.insert(words.end(), piece.shift.begin(), piece.shift.end());
    words.insert(words.end(), piece.turn.axes.begin(), piece.turn.axes.end());
    words.insert(words.end(), {piece.turn.mirrored, piece.turn.seam, piece.at_owner});
  }
  put_list(words, side.cells);
}

void WordReader::refuse() {
  throw Error("a message of a neighbor ends early: run the same version on every rank");
}

Box WordReader::box() {
  Box box;
  for (auto& x : box.lo) x = next();
  for (auto& x : box.hi) x = next();
  return box;
}

Selection WordReader::selection() {
  Selection side;
  for (auto count = next(); count > 0; --count) {
    BoxPiece& piece = side.boxes.emplace_back();
    piece.block = next<std::int32_t>();
    piece.cells = box();
    piece.owner = box();
    for (auto& x : piece.shift) x = next();
    for (auto& axis : piece.turn.axes) axis = next<std::uint8_t>();
    piece.turn.mirrored = next<DimensionSet>();
    piece.turn.seam = next() != 0;
    piece.at_owner = next() != 0;
  }
  side.cells = list();
  return side;
}

}  // namespace parhelion

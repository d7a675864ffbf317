#include "pattern/words.hpp"

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

template <class Piece, class Use>
void for_numbers(Piece& piece, Use&& use) {
  for (auto* list :
      {&piece.cells.lo, &piece.cells.hi, &piece.owner.lo, &piece.owner.hi, &piece.shift})
    for (auto& x : *list) use(x);
  for (auto& axis : piece.turn.axes) use(axis);
  use(piece.block), use(piece.turn.mirrored), use(piece.turn.sign), use(piece.turn.seam);
  use(piece.at_owner);
}

}  // namespace

void put_box(Words& words, const Box& box) {
  words.insert(words.end(), box.lo.begin(), box.lo.end());
  words.insert(words.end(), box.hi.begin(), box.hi.end());
}

void put_selection(Words& words, const Selection& side) {
  words.push_back(side.boxes.size());
  for (const BoxPiece& piece : side.boxes)
    for_numbers(piece, [&](auto number) { words.push_back(number); });
  put_list(words, side.cells);
}

void WordReader::refuse() {
  throw Error("a neighbor's message is too short: run the same version on every rank");
}

Box WordReader::box() {
  Box box;
  for (auto& x : box.lo) x = next();
  for (auto& x : box.hi) x = next();
  return box;
}

Selection WordReader::selection() {
  Selection side;
  for (auto count = next(); count > 0; --count)
    for_numbers(
        side.boxes.emplace_back(), [&]<class Number>(Number& number) { number = next<Number>(); });
  side.cells = list();
  return side;
}

}  // namespace parhelion

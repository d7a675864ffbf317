#include "plan/value_place.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "core/concat.hpp"

namespace parhelion {
namespace {

// The last dimension in `order` varies fastest.
void find_in_box(ValuePlace& place, const Plan& plan, const BoxPiece& piece, const Box& box,
    const std::vector<int>& order, byte_count value) {
  const Field& field = plan.fields[place.f];
  const Pattern& pattern = plan.pattern_of(place.f);
  const BoxLayout shape = box_in_field(plan, place.f, piece, box);
  place.cell.resize(pattern.dimensions);
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    const byte_count count = shape.count[*d], i = value % count;
    value /= count;
    if (*d == pattern.dimensions) place.component = i;
    else {
      const int here = piece.axis(*d);
      place.cell[here] = piece.is_backward(*d) ? box.hi[here] - 1 - i : box.lo[here] + i;
    }
  }
  const Box& block = pattern.blocks[piece.block];
  place.owned = true;
  for (int d = 0; d < pattern.dimensions; ++d) {
    const global_index at = place.cell[d];
    place.owned = place.owned && at >= block.lo[d] && at < block.hi[d];
  }
  const std::vector<global_index> here = place.cell;
  for (int d = 0; d < pattern.dimensions && !piece.at_owner; ++d)
    place.cell[piece.turn.axes[d]] =
        piece.shift[d] + (has(piece.turn.mirrored, d) ? -here[d] : here[d]);
  place.size = field.element.size;
  place.negated = !piece.at_owner && is_negated(field, piece);
}

void find_in_boxes(ValuePlace& place, const Plan& plan, const MessageField& at, byte_count offset) {
  const Field& field = plan.fields[at.f];
  const std::vector<int> order = packing_order(field, plan.pattern_of(at.f).dimensions);
  for (const BoxPiece& piece : at.side->boxes) {
    const Box box = clipped(plan, at.f, piece);
    const byte_count bytes = box.cells() * bytes_per_cell(field);
    if (offset < bytes)
      return find_in_box(place, plan, piece, box, order, offset / field.element.size);
    offset -= bytes;
  }
}

void find_in_cells(ValuePlace& place, const Plan& plan, const MessageField& at, byte_count offset) {
  const Field& field = plan.fields[at.f];
  const Pattern& pattern = plan.pattern_of(at.f);
  place.local = at.side->cells[offset / bytes_per_cell(field)];
  place.owned = place.local < pattern.owned;
  place.component = offset % bytes_per_cell(field) / field.element.size;
  place.size = field.element.size;
  if (!pattern.ids) return;
  const CellIds& ids = *pattern.ids;
  if (!place.owned) place.cell = {ids.ghosts[place.local - pattern.owned]};
  else place.cell = {ids.first >= 0 ? ids.first + place.local : ids.owned[place.local]};
}

std::string whole(const std::byte* value, Scalar scalar, bool negated) {
  const int size = size_of(scalar), unused = 64 - 8 * size;
  std::uint64_t bits = 0;  // the value in the highest ones
  std::memcpy(&bits, value, static_cast<std::size_t>(size));
  if (std::endian::native == std::endian::little) bits <<= unused;
  if (negated) bits = -bits;
  return scalar < Scalar::uint8 ? std::to_string(static_cast<std::int64_t>(bits) >> unused)
                                : std::to_string(bits >> unused);
}

template <class T>
std::string number(const std::byte* value, bool negated) {
  T read;
  std::memcpy(&read, value, sizeof read);
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, negated ? -read : read).ptr};
}

template <class T>
std::string pair(const std::byte* value, bool negated) {
  return concat("(", number<T>(value, negated), ", ", number<T>(value + sizeof(T), negated), ")");
}

std::string digits(const std::byte* value, byte_count size) {
  constexpr byte_count most = 16;
  std::string text = "0x";
  for (byte_count i = 0; i < std::min(size, most); ++i)
    for (const unsigned half :
        {std::to_integer<unsigned>(value[i]) >> 4, std::to_integer<unsigned>(value[i]) & 15u})
      text += "0123456789abcdef"[half];
  return size > most ? text + "…" : text;
}

}  // namespace

ValuePlace value_at(const Plan& plan, const MessageLayout& layout, byte_count at) {
  for (const MessageField& field : layout.fields) {
    if (at >= field.begin + field.bytes) continue;
    ValuePlace place{field.f};
    const byte_count offset = at - field.begin;
    if (plan.pattern_of(field.f).indexed()) find_in_cells(place, plan, field, offset);
    else find_in_boxes(place, plan, field, offset);
    place.first = at - offset % place.size;
    return place;
  }
  refuse("byte ", at, " is not part of a message of ", layout.bytes());
}

byte_count first_difference(
    const MessageLayout& layout, const std::byte* a, const std::byte* b, byte_count from) {
  for (const MessageField& field : layout.fields) {
    const byte_count first = std::max(field.begin, from), end = field.begin + field.bytes;
    if (first >= end ||
        std::memcmp(a + first, b + first, static_cast<std::size_t>(end - first)) == 0)
      continue;
    return std::mismatch(a + first, a + end, b + first).first - a;
  }
  return -1;
}

std::string to_string(const Plan& plan, const ValuePlace& place) {
  std::string text = "cell ";
  if (place.cell.empty()) text = "local cell " + std::to_string(place.local);
  else if (plan.pattern_of(place.f).indexed()) text += std::to_string(place.cell.front());
  else {
    text += "(";
    for (std::size_t d = 0; d < place.cell.size(); ++d)
      text += concat(d > 0 ? ", " : "", place.cell[d]);
    text += ")";
  }
  const bool several = plan.fields[place.f].components > 1;
  return several ? text + ", component " + std::to_string(place.component) : text;
}

std::string value_text(const Element& element, const std::byte* value, bool negated) {
  switch (element.scalar) {
    case Scalar::float32: return number<float>(value, negated);
    case Scalar::float64: return number<double>(value, negated);
    case Scalar::complex64: return pair<float>(value, negated);
    case Scalar::complex128: return pair<double>(value, negated);
    case Scalar::bytes: return digits(value, element.size);
    default: return whole(value, element.scalar, negated);
  }
}

}  // namespace parhelion

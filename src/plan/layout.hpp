// Layouts of a selection's cells in a field or a message.
#pragma once

#include <array>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// A box of values with strides; the last of `dims` dimensions is the component.
struct BoxLayout {
  int base = 0;
  byte_count offset = 0;
  int dims = 0;
  std::array<byte_count, StridedOp::most_dims> count{}, stride{};

  byte_count values() const;
};

/// Indices [`first`, `last`) along one dimension of a box.
BoxLayout cut(BoxLayout box, int dimension, byte_count first, byte_count last);

/// The same values in opposite order along some dimensions.
BoxLayout turned(BoxLayout box, DimensionSet backward);

/// Packing order of a field's dimensions (the last is the component): by falling stride.
std::vector<int> packing_order(const Field& field, int dimensions);

/// Cells of a piece that a field with its own halo width moves.
Box clipped(const Plan& plan, int f, const BoxPiece& piece);

/// Layout of `box` of a piece, or of the clipped piece, in field `f`, in message order.
BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece, const Box& box);
BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece);

/// The same box, packed at byte `offset` of a message in `order`.
BoxLayout box_in_message(
    const BoxLayout& shape, const std::vector<int>& order, byte_count element, byte_count offset);

StridedOp copy_between(
    const BoxLayout& from, const BoxLayout& to, Element element, bool negated = false);

/// Whether values change sign between a piece's two sides.
inline bool is_negated(const Field& field, const BoxPiece& piece) {
  if (field.vector != 0) return has(piece.turn.mirrored, field.along);
  return field.sign < 0 && piece.turn.sign < 0;
}

/// The field with the owner's values of field `f`: another component if a seam turns a vector.
int source_of(const Plan& plan, int f, const SeamTurn& turn);

byte_count bytes_per_cell(const Field& field);

/// Aligns each field in a message, so that vectors stay aligned.
constexpr byte_count message_alignment = 16;
constexpr byte_count aligned(byte_count bytes, byte_count alignment = message_alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// For groups without a link to the neighbor.
inline const Link no_link{};

/// End of a neighbor's links: cells owned here and ghosts there, or the opposite.
enum class End : std::uint8_t { owned, ghosts };

/// A field's part of a message: the first `entries` of a selection, from byte `begin`.
struct MessageField {
  int f = 0;
  const Selection* side = nullptr;
  byte_count entries = 0, begin = 0, bytes = 0;
};

/// By group and field, without empty ones; entries in the pattern's order.
struct MessageLayout {
  End end = End::owned;
  std::vector<MessageField> fields;
  byte_count bytes() const {
    return fields.empty() ? 0 : fields.back().begin + fields.back().bytes;
  }
};

/// Layout of a forward (unique entries) or reverse message (all entries), seen from one end.
MessageLayout message_layout(const Plan& plan, const Links& links, End end, Direction direction);

inline const Selection& selection_of(const Link& link, End end) {
  return end == End::owned ? link.send : link.receive;
}
byte_count entries_of(const Link& link, End end, Direction direction);

}  // namespace parhelion

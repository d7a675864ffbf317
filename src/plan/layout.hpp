// One side of a copy: where the cells of a selection lie in a field, or in a message.
#pragma once

#include <array>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// A box of values with strides; the last of `dims` dimensions are the components.
struct BoxLayout {
    int base = 0;
    byte_count offset = 0;
    int dims = 0;
    std::array<byte_count, StridedOp::most_dims> count{}, stride{};
};

/// From `first` to before `last` along one dimension of a box.
BoxLayout cut(BoxLayout box, int dimension, byte_count first, byte_count last);

/// The same values, backward along some dimensions.
BoxLayout turned(BoxLayout box, DimensionSet backward);

/// Order in which a field's dimensions (components last in the list) are packed: by falling stride.
std::vector<int> packing_order(const Field& field, int dimensions);

/// Cells of a piece that a field with its own halo width moves.
Box clipped(const BoxPiece& piece, const Field& field, int dimensions);

/// Where the cells of `box` of a piece of field `f` lie, in the order of the message.
BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece, const Box& box);

/// The same box packed at `offset` of a message in the given order.
BoxLayout box_in_message(const BoxLayout& shape, const std::vector<int>& order, byte_count element,
                         byte_count offset);

StridedOp copy_between(const BoxLayout& from, const BoxLayout& to, Element element,
                       bool negated = false);

/// Whether a field's values change sign between the two sides of a piece.
inline bool is_negated(const Field& field, const BoxPiece& piece) {
    if (field.vector != 0) return (piece.turn.mirrored >> field.along & 1) != 0;
    return field.sign < 0 && piece.turn.mirrored != 0;
}

/// The field that has the owner's values of a piece of field `f`: of a vector that a seam turns,
/// another component.
int source_of(const Plan& plan, int f, const SeamTurn& turn);

byte_count bytes_per_cell(const Field& field);

/// Start of each field's part in a message is a multiple of this, so that vectors stay aligned.
constexpr byte_count message_alignment = 16;
constexpr byte_count aligned(byte_count bytes, byte_count alignment = message_alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Of a group that has none with a neighbor.
inline const Link no_link{};

/// Which end of a neighbor's links: owned cells here that are ghosts there, or ghosts here that are
/// owned there.
enum class End : std::uint8_t { owned, ghosts };

/// A field's part of a message: the first `entries` entries of a selection, from byte `begin` on.
struct MessageField {
    int f = 0;
    const Selection* side = nullptr;
    byte_count entries = 0, begin = 0, bytes = 0;
};

/// One message: group by group and field by field, each one's entries in the pattern's order.
/// Fields without bytes are left out. Whatever packs, unpacks or cuts messages goes by this.
struct MessageLayout {
    End end = End::owned;
    std::vector<MessageField> fields;
    byte_count bytes() const {
        return fields.empty() ? 0 : fields.back().begin + fields.back().bytes;
    }
};

/// Of a forward message (entries that differ) or a reverse one (all entries), as seen from one end.
MessageLayout message_layout(const Plan& plan, const Links& links, End end, Direction direction);

inline const Selection& selection_of(const Link& link, End end) {
    return end == End::owned ? link.send : link.receive;
}
byte_count entries_of(const Link& link, End end, Direction direction);

}  // namespace parhelion

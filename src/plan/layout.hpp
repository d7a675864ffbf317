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

/// Order in which a field's dimensions (components last in the list) are packed: by falling stride.
std::vector<int> packing_order(const Field& field, int dimensions);

/// Cells of a piece that a field with its own halo width moves.
Box clipped(const BoxPiece& piece, const Field& field, int dimensions);

/// Where the cells of `box` lie in block `piece.block` of field `f`.
BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece, const Box& box);

/// The same box packed at `offset` of a message in the given order.
BoxLayout box_in_message(const BoxLayout& shape, const std::vector<int>& order, byte_count element, byte_count offset);

StridedOp copy_between(const BoxLayout& from, const BoxLayout& to, Element element);

byte_count bytes_per_cell(const Field& field);

/// Where a cell of a ragged field lies in its block.
RowSpan row_span(const Plan& plan, const Field& field, local_index cell);

/// Start of each field's part in a message is a multiple of this, so that vectors stay aligned.
constexpr byte_count message_alignment = 16;
constexpr byte_count aligned(byte_count bytes) {
    return (bytes + message_alignment - 1) / message_alignment * message_alignment;
}

/// Bytes that field `f` of the plan has in the message of the first `entries` entries of a selection.
byte_count message_bytes(const Plan& plan, int f, const Selection& side, byte_count entries);

}  // namespace parhelion

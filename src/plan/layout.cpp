#include "plan/layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace parhelion {

byte_count BoxLayout::values() const {
  byte_count all = 1;
  for (int d = 0; d < dims; ++d) all *= count[d];
  return all;
}

BoxLayout cut(BoxLayout box, int dimension, byte_count first, byte_count last) {
  box.offset += first * box.stride[dimension];
  box.count[dimension] = last - first;
  return box;
}

BoxLayout turned(BoxLayout box, DimensionSet backward) {
  for (std::size_t d = 0; backward >> d != 0; ++d) {
    if (!has(backward, d)) continue;
    box.offset += (box.count[d] - 1) * box.stride[d];
    box.stride[d] = -box.stride[d];
  }
  return box;
}

int source_of(const Plan& plan, int f, const SeamTurn& turn) {
  const Field& field = plan.fields[f];
  if (field.vector == 0 || turn.axes[field.along] == field.along) return f;
  int source = 0;  // exists: check_turned
  while (plan.numbers[source].group != plan.numbers[f].group ||
         plan.fields[source].vector != field.vector ||
         plan.fields[source].along != turn.axes[field.along])
    ++source;
  return source;
}

std::vector<int> packing_order(const Field& field, int dimensions) {
  std::vector<int> order(dimensions + 1);
  std::iota(order.begin(), order.end(), 0);
  if (field.blocks.empty()) return order;
  const auto stride = [&](int d) {
    return std::abs(
        d == dimensions ? field.stride_of_components(0) : field.blocks.front().strides[d]);
  };
  std::ranges::stable_sort(order, [&](int a, int b) { return stride(a) > stride(b); });
  return order;
}

namespace {

// The part of a dimension-by-dimension piece straight across a face; nothing of a piece beyond
// several sides.
Box across_face(const BoxPiece& piece, Box most, int dimensions) {
  for (int d = 0, beyond = 0; d < dimensions; ++d) {
    const global_index lo = piece.owner.lo[d], hi = piece.owner.hi[d];
    if (piece.cells.lo[d] < hi && piece.cells.hi[d] > lo) most.lo[d] = lo, most.hi[d] = hi;
    else if (++beyond > 1) most.hi[d] = most.lo[d];
  }
  return most;
}

}  // namespace

Box clipped(const Plan& plan, int f, const BoxPiece& piece) {
  const Field& field = plan.fields[f];
  const int dimensions = plan.pattern_of(f).dimensions;
  HaloWidth width = 0;
  for (int d = 0; d < dimensions; ++d) {
    const int here = piece.axis(d);
    width.lower[here] = field.halo.lower[d], width.upper[here] = field.halo.upper[d];
    if (piece.is_backward(d)) std::swap(width.lower[here], width.upper[here]);
  }
  const Box most = grow(piece.owner, width, dimensions);
  return intersect(piece.cells,
      field.neighbors == Neighbors::full ? most : across_face(piece, most, dimensions));
}

BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece, const Box& box) {
  if (piece.at_owner) f = source_of(plan, f, piece.turn);
  const Field& field = plan.fields[f];
  const BlockView& view = field.blocks[piece.block];
  const Pattern& pattern = plan.pattern_of(f);
  const Box& owned = pattern.blocks[piece.block];
  BoxLayout layout;
  layout.base = plan.base_of(f, piece.block);
  layout.dims = pattern.dimensions + 1;
  for (int d = 0; d < pattern.dimensions; ++d) {
    const int here = piece.axis(d);
    layout.offset += (box.lo[here] - owned.lo[here]) * view.strides[here];
    layout.count[d] = box.extent(here);
    layout.stride[d] = view.strides[here];
  }
  layout.count[layout.dims - 1] = field.components;
  layout.stride[layout.dims - 1] = field.stride_of_components(piece.block);
  return turned(layout, piece.at_owner ? piece.turn.mirrored : DimensionSet{0});
}

BoxLayout box_in_field(const Plan& plan, int f, const BoxPiece& piece) {
  return box_in_field(plan, f, piece, clipped(plan, f, piece));
}

BoxLayout box_in_message(
    const BoxLayout& shape, const std::vector<int>& order, byte_count element, byte_count offset) {
  BoxLayout layout = shape;
  layout.base = 0;
  layout.offset = offset;
  byte_count stride = element;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    layout.stride[*d] = stride;
    stride *= shape.count[*d];
  }
  return layout;
}

StridedOp copy_between(const BoxLayout& from, const BoxLayout& to, Element element, bool negated) {
  return {from.base, to.base, from.offset, to.offset, element.size, from.dims, from.count,
      from.stride, to.stride, element.scalar, negated};
}

byte_count bytes_per_cell(const Field& field) {
  return byte_count{field.components} * field.element.size;
}

namespace {

byte_count cells_of_entries(const Plan& plan, const MessageField& at) {
  if (plan.pattern_of(at.f).indexed()) return at.entries;
  byte_count cells = 0;
  for (byte_count k = 0; k < at.entries; ++k)
    cells += clipped(plan, at.f, at.side->boxes[k]).cells();
  return cells;
}

}  // namespace

byte_count entries_of(const Link& link, End end, Direction direction) {
  const Selection& side = selection_of(link, end);
  if (direction == Direction::reverse) return side.boxes.size() + side.cells.size();
  return end == End::owned ? link.send_unique : link.receive_unique;
}

MessageLayout message_layout(const Plan& plan, const Links& links, End end, Direction direction) {
  MessageLayout layout{end, {}};
  layout.fields.reserve(plan.fields.size());
  for (int f = 0; f < plan.field_count(); ++f) {
    const Link& link = plan.link_of(links, f);
    MessageField at{
        f, &selection_of(link, end), entries_of(link, end, direction), aligned(layout.bytes()), 0};
    at.bytes = cells_of_entries(plan, at) * bytes_per_cell(plan.fields[f]);
    if (at.bytes > 0) layout.fields.push_back(at);
  }
  return layout;
}

}  // namespace parhelion

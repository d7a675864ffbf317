#include "plan/parts.hpp"

#include <algorithm>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

constexpr byte_count line = 64;
// Cache-line bytes that one side touches per part: the few parts in flight fit into the
// second-level cache.
constexpr byte_count lines_per_part = 32 * 1024;

// A field of the message, seen by the sender or the receiver.
struct Side {
  const Plan& plan;
  MessageField at;
  End end;
  const Field& field;
  const Pattern& pattern;
  std::vector<int> order;  // the sender's packing order

  Into into() const { return end == End::owned ? Into::message : Into::field; }
  BoxLayout layout(byte_count k) const {
    const BoxPiece& piece = at.side->boxes[k];
    return box_in_field(plan, at.f, piece, clipped(piece, field, pattern.dimensions));
  }
};

byte_count points(const BoxLayout& layout) {
  byte_count all = 1;
  for (int d = 0; d < layout.dims; ++d) all *= layout.count[d];
  return all;
}

// Bytes of the cache lines of a field's pieces, if each row of the message is a separate run. Equal
// on both sides, though strides differ.
byte_count lines_of(const Side& side) {
  if (side.pattern.indexed()) return std::max(side.at.entries * line, side.at.bytes);
  byte_count total = 0;
  for (byte_count k = 0; k < side.at.entries; ++k) {
    const BoxLayout layout = side.layout(k);
    if (points(layout) == 0) continue;
    byte_count row = 1;  // contiguous values: components, if innermost, and the next dimension
    for (std::size_t i = side.order.size(); i-- > 0;) {
      row *= layout.count[side.order[i]];
      if (side.order[i] + 1 < layout.dims) break;
    }
    total += points(layout) / row * std::max(line, row * side.field.element.size);
  }
  return total;
}

// Extent of the outermost (0) or next (1) dimension of the message; 1 if pieces differ in it, which
// prevents cuts.
byte_count extent_of(const Side& side, std::size_t after_outermost) {
  if (after_outermost >= side.order.size()) return 1;
  byte_count extent = 0;
  for (byte_count k = 0; k < side.at.entries; ++k) {
    const byte_count here = side.layout(k).count[side.order[after_outermost]];
    if (extent != 0 && here != extent) return 1;
    extent = here;
  }
  return std::max<byte_count>(extent, 1);
}

// Part `which` of `parts` equal ones of a dimension.
struct Cut {
  byte_count which = 0, parts = 1;

  BoxLayout of(const BoxLayout& box, int dimension) const {
    const byte_count rows = box.count[dimension];
    return cut(box, dimension, rows * which / parts, rows * (which + 1) / parts);
  }
};

class Cutter {
 public:
  void cut(const Side& side) { side.pattern.indexed() ? cut_cells(side) : cut_boxes(side); }

  std::vector<Part> parts() {
    if (open_.bytes > 0) parts_.push_back(std::move(open_));
    return std::move(parts_);
  }

 private:
  // Closes a part once it is large enough; small fields share one.
  void close(byte_count touched) {
    touched_ += touched;
    if (touched_ < lines_per_part || open_.bytes == 0) return;
    parts_.push_back(std::move(open_));
    open_ = {};
    touched_ = 0;
  }

  void cut_cells(const Side& side) {
    const byte_count touched = lines_of(side), all = side.at.entries;
    const byte_count pieces = std::clamp<byte_count>(touched / lines_per_part, 1, all);
    for (byte_count i = 0; i < pieces; ++i) {
      const Entries entries{all * i / pieces, all * (i + 1) / pieces};
      open_.bytes = aligned(open_.bytes);
      add_side_of_cells(
          open_.program, side.plan, side.at, entries, side.end, side.into(), open_.bytes);
      open_.bytes += (entries.end - entries.first) * bytes_per_cell(side.field);
      close(touched / pieces);
    }
  }

  // Cuts the second dimension only if the first is cut into single layers.
  void cut_boxes(const Side& side) {
    const byte_count touched = lines_of(side);
    const byte_count wanted = std::max<byte_count>(touched / lines_per_part, 1),
                     layers = extent_of(side, 0);
    const byte_count slices = std::min(wanted, layers);
    const byte_count strips = slices == layers ? std::min(wanted / slices, extent_of(side, 1)) : 1;
    for (byte_count i = 0; i < slices * strips; ++i) {
      add_slice(side, {i / strips, slices}, {i % strips, strips});
      close(touched / (slices * strips));
    }
  }

  // Adds one slice of the message's two outermost dimensions.
  void add_slice(const Side& side, Cut outermost, Cut second) {
    const Element element = side.field.element;
    open_.bytes = aligned(open_.bytes);
    for (byte_count k = 0; k < side.at.entries; ++k) {
      BoxLayout mine = outermost.of(side.layout(k), side.order.front());
      if (side.order.size() > 1) mine = second.of(mine, side.order[1]);
      const BoxLayout message = box_in_message(mine, side.order, element.size, open_.bytes);
      const bool negated =
          side.end == End::ghosts && is_negated(side.field, side.at.side->boxes[k]);
      open_.program.add(side.into() == Into::message
                            ? copy_between(mine, message, element, negated)
                            : copy_between(message, mine, element, negated));
      open_.bytes += points(mine) * element.size;
    }
  }

  std::vector<Part> parts_;
  Part open_;
  byte_count touched_ = 0;
};

template <class OrderOf>
std::vector<Part> cut(const Plan& plan, const LinkPlan& link, End end, OrderOf&& order_of) {
  Cutter cutter;
  for (const MessageField& at : message_layout(plan, link.links, end, Direction::forward).fields)
    cutter.cut({plan, at, end, plan.fields[at.f], plan.pattern_of(at.f), order_of(at.f)});
  return cutter.parts();
}

}  // namespace

std::vector<Part> parts_sent(const Plan& plan, const LinkPlan& link) {
  return cut(plan, link, End::owned,
      [&](int f) { return packing_order(plan.fields[f], plan.pattern_of(f).dimensions); });
}

std::vector<Part> parts_received(const Plan& plan, const LinkPlan& link) {
  return cut(plan, link, End::ghosts, [&](int f) { return link.orders[f]; });
}

}  // namespace parhelion

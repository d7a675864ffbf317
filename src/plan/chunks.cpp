#include "plan/chunks.hpp"

#include <algorithm>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

constexpr byte_count line = 64;
// Cache-line bytes that a side touches per chunk: the few in flight fit into the second-level
// cache.
constexpr byte_count lines_per_chunk = 32 * 1024;

// A field of the message, at the sender or the receiver.
struct Side {
  const Plan& plan;
  MessageField at;
  End end;
  const Field& field;
  const Pattern& pattern;
  std::vector<int> order;  // the sender's packing order

  Into into() const { return end == End::owned ? Into::message : Into::field; }
  BoxLayout layout(byte_count k) const { return box_in_field(plan, at.f, at.side->boxes[k]); }
};

// Bytes of a field's cache lines, as if each row were a separate run: equal on both sides, though
// strides differ.
byte_count lines_of(const Side& side) {
  if (side.pattern.indexed()) return std::max(side.at.entries * line, side.at.bytes);
  byte_count total = 0;
  for (byte_count k = 0; k < side.at.entries; ++k) {
    const BoxLayout layout = side.layout(k);
    if (layout.values() == 0) continue;
    byte_count row = 1;  // contiguous: components, if innermost, and the next dimension
    for (std::size_t i = side.order.size(); i-- > 0;) {
      row *= layout.count[side.order[i]];
      if (side.order[i] + 1 < layout.dims) break;
    }
    total += layout.values() / row * std::max(line, row * side.field.element.size);
  }
  return total;
}

// Extent of the message's outermost (0) or next (1) dimension; 1 (no cuts) if pieces differ in it.
byte_count extent_of(const Side& side, std::size_t after_outermost) {
  byte_count extent = 0;
  for (byte_count k = 0; k < side.at.entries; ++k) {
    const byte_count here = side.layout(k).count[side.order[after_outermost]];
    if (extent != 0 && here != extent) return 1;
    extent = here;
  }
  return std::max<byte_count>(extent, 1);
}

class Cutter {
 public:
  void cut(const Side& side) { side.pattern.indexed() ? cut_cells(side) : cut_boxes(side); }

  std::vector<Chunk> chunks() {
    if (open_.bytes > 0) chunks_.push_back(std::move(open_));
    return std::move(chunks_);
  }

 private:
  // Small fields share a chunk.
  void close(byte_count touched) {
    touched_ += touched;
    if (touched_ < lines_per_chunk || open_.bytes == 0) return;
    chunks_.push_back(std::move(open_));
    open_ = {};
    touched_ = 0;
  }

  void cut_cells(const Side& side) {
    const byte_count touched = lines_of(side), all = side.at.entries;
    const byte_count pieces = std::clamp<byte_count>(touched / lines_per_chunk, 1, all);
    for (byte_count i = 0; i < pieces; ++i) {
      const Entries entries{all * i / pieces, all * (i + 1) / pieces};
      open_.bytes = aligned(open_.bytes);
      add_side_of_cells(
          open_.program, side.plan, side.at, entries, side.end, side.into(), open_.bytes);
      open_.bytes += (entries.end - entries.first) * bytes_per_cell(side.field);
      close(touched / pieces);
    }
  }

  // Cuts the second dimension only within single layers of the first.
  void cut_boxes(const Side& side) {
    const byte_count touched = lines_of(side);
    const byte_count wanted = std::max<byte_count>(touched / lines_per_chunk, 1),
                     layers = extent_of(side, 0);
    const byte_count slices = std::min(wanted, layers);
    const byte_count strips = slices == layers ? std::min(wanted / slices, extent_of(side, 1)) : 1;
    for (byte_count i = 0; i < slices * strips; ++i) {
      open_.bytes = aligned(open_.bytes);
      open_.bytes += add_side_of_boxes(open_.program, side.plan, side.at, side.order, side.end,
          side.into(), open_.bytes, {{{i / strips, slices}, {i % strips, strips}}});
      close(touched / (slices * strips));
    }
  }

  std::vector<Chunk> chunks_;
  Chunk open_;
  byte_count touched_ = 0;
};

}  // namespace

std::vector<Chunk> chunks_of(const Plan& plan, const LinkPlan& link, bool sent) {
  Cutter cutter;
  const End end = sent ? End::owned : End::ghosts;
  for (const MessageField& at : message_layout(plan, link.links, end, Direction::forward).fields) {
    const Field& field = plan.fields[at.f];
    const Pattern& pattern = plan.pattern_of(at.f);
    cutter.cut({plan, at, end, field, pattern,
        sent ? packing_order(field, pattern.dimensions) : link.orders[at.f]});
  }
  return cutter.chunks();
}

}  // namespace parhelion

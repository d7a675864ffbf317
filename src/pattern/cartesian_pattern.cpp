// A Cartesian pattern is a product of one-dimensional ones: along each axis, a block's extended
// range is cut into segments by owner; every combination with at least one ghost segment is a
// piece. Points are cut like cells: the point above a block's last cell is the next block's and
// adds a ghost layer. Layers beyond an end extend the block there. Grids with seams are not
// products (seam_pattern.cpp).
#include <algorithm>

#include "pattern/by_dimensions.hpp"
#include "pattern/piece_lists.hpp"

namespace parhelion {
namespace {

// Part of a block's extended range along one axis that a single block owns.
struct Segment {
  global_index lo, hi;  // in the receiver's coordinates
  global_index shift;   // to the owner's coordinates
  int owner;            // block position along the axis
  bool ghost;
  bool beyond;  // a ghost that is not one of the block's held points
};

struct PatternAxis : Axis {
  bool apart = false;  // held ghosts form separate segments

  // Widens the halo to that of ghosts, and end blocks by owned layers.
  PatternAxis(const Axis& axis, int below, int above, bool cut_held)
      : Axis(axis), apart(cut_held && axis.stagger > 0) {
    stagger = std::max(stagger, 0);
    upper += stagger;
    if (periodic) return;
    starts.front() -= below;
    starts.back() += above;
  }

  // Points above a block's last cell that it holds but does not own.
  int points_of_next(int block) const {
    return periodic || starts[block + 1] != starts.back() ? stagger : 0;
  }
  global_index wrapped(global_index x) const {
    return periodic ? ((x % extent) + extent) % extent : x;
  }
  bool has(global_index x) const { return x >= starts.front() && x < starts.back(); }
};

void append_images(const PatternAxis& axis, global_index lo, global_index hi, bool own, bool beyond,
    std::vector<Segment>& segments) {
  while (lo < hi) {
    const global_index at = axis.wrapped(lo);
    if (!axis.has(at)) {
      lo = at < axis.starts.front() ? std::min(hi, axis.starts.front()) : hi;
      continue;
    }
    const auto next = std::upper_bound(axis.starts.begin(), axis.starts.end(), at);
    const global_index end = std::min(hi, lo + *next - at);
    segments.push_back(
        {lo, end, at - lo, static_cast<int>(next - axis.starts.begin()) - 1, !own, beyond});
    lo = end;
  }
}

// A block without cells along an axis has no halo there.
std::vector<Segment> segments_of(const PatternAxis& axis, int block) {
  const global_index lo = axis.starts[block], hi = axis.starts[block + 1];
  std::vector<Segment> segments;
  if (lo == hi) return segments;
  const int next = axis.points_of_next(block);
  const global_index held = hi + (axis.apart ? next : 0);
  append_images(axis, lo - axis.lower, lo, false, true, segments);
  append_images(axis, lo, hi, true, false, segments);
  append_images(axis, hi, held, false, false, segments);
  append_images(axis, held, hi + axis.upper - axis.stagger + next, false, true, segments);
  return segments;
}

// A segment of some block (the reader) and its number there, which orders pieces on both sides.
struct Reading {
  int reader;
  int number;
  int own_number;  // of the reader's owned segment
  Segment segment;
};

// Segments read by this rank's blocks along an axis, and read from them. Index: position − first.
struct AxisView {
  using Readings = std::vector<std::vector<Reading>>;
  Readings reads, read_from;
  int first = 0;

  AxisView(const PatternAxis& axis, int first_block, int blocks)
      : reads(blocks), read_from(blocks), first(first_block) {
    for (int b = 0; b < axis.blocks(); ++b) {
      const bool mine = b >= first && b < first + blocks;
      if (!mine && !near(axis, b, blocks)) continue;
      const auto segments = segments_of(axis, b);
      const int own = std::ranges::find_if(segments, [](const Segment& segment) {
        return !segment.ghost;
      }) - segments.begin();
      for (int n = 0; n < static_cast<int>(segments.size()); ++n) {
        if (mine) reads[b - first].push_back({b, n, own, segments[n]});
        const int owner = segments[n].owner;
        if (owner >= first && owner < first + blocks)
          read_from[owner - first].push_back({b, n, own, segments[n]});
      }
    }
  }

 private:
  // Whether block b's halo could reach these blocks. Keeps set-up cheap on long axes.
  bool near(const PatternAxis& axis, int b, int blocks) const {
    const global_index lo = axis.starts[first], hi = axis.starts[first + blocks];
    const global_index from = axis.starts[b] - axis.lower, to = axis.starts[b + 1] + axis.upper;
    if (from < hi && to > lo) return true;
    return axis.periodic && (from < 0 || to > axis.extent);
  }
};

class Builder {
 public:
  Builder(const CartesianDomain& domain, const HaloWidth& ends)
      : domain_(domain), blocks_(domain.blocks()) {
    const Block& first = domain.blocks().front();
    for (int d = 0; d < domain.dimensions(); ++d) {
      const PatternAxis& axis = axes_.emplace_back(
          domain.axis(d), ends.lower[d], ends.upper[d], domain.neighbors() == Neighbors::faces);
      views_.emplace_back(axis, first.position[d], axis.blocks_per_rank);
      for (Block& block : blocks_) {
        block.owned.lo[d] = axis.starts[block.position[d]];
        block.owned.hi[d] = axis.starts[block.position[d] + 1];
      }
    }
  }

  const std::vector<Block>& blocks() const { return blocks_; }
  HaloWidth halo() const {
    HaloWidth width = domain_.halo();
    for (int d = 0; d < domain_.dimensions(); ++d) width.upper[d] = axes_[d].upper;
    return width;
  }

  Stage stage() const {
    if (!domain_.seams().empty()) return stage_with_seams(domain_, Reads::surroundings);
    PiecesByRank receives, sends;
    for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
      visit(b, &AxisView::reads, [&](const Along& along) { add_receive(b, along, receives); });
      visit(b, &AxisView::read_from, [&](const Along& along) { add_send(b, along, sends); });
    }
    return join(receives, sends);
  }

 private:
  using Along = std::array<const Reading*, max_dimensions>;
  using End = AxisView::Readings AxisView::*;

  template <class Visitor>
  void visit(int block, End end, Visitor&& visitor) const {
    Along along{};
    descend(0, blocks_[block], end, along, visitor);
  }

  template <class Visitor>
  void descend(int d, const Block& block, End end, Along& along, Visitor& visitor) const {
    if (d == max_dimensions || d == domain_.dimensions()) {
      if (is_wanted(along)) visitor(along);
      return;
    }
    const AxisView& view = views_[d];
    for (const Reading& reading : (view.*end)[block.position[d] - view.first]) {
      along[d] = &reading;
      descend(d + 1, block, end, along, visitor);
    }
  }

  // Combinations with a ghost segment; with Neighbors::faces, at most one beyond the held points.
  bool is_wanted(const Along& along) const {
    int ghosts = 0, beyond = 0;
    for (int d = 0; d < domain_.dimensions(); ++d)
      ghosts += along[d]->segment.ghost, beyond += along[d]->segment.beyond;
    return ghosts > 0 && (domain_.neighbors() == Neighbors::full || beyond <= 1);
  }

  KeyedPiece keyed(const Along& along, int reader_block, const BoxPiece& piece) const {
    std::array<int, max_dimensions> numbers{};
    for (int d = 0; d < domain_.dimensions(); ++d) numbers[d] = along[d]->number;
    return {{reader_block, numbers}, {reader_block, first_numbers(along, numbers)}, piece};
  }

  // If a block is its own periodic neighbor along a dimension, its ghosts there copy its own
  // cells: a corner from another rank duplicates the edge or face beside it.
  std::array<int, max_dimensions> first_numbers(
      const Along& along, std::array<int, max_dimensions> numbers) const {
    const auto original = numbers;
    int others = 0;
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Reading& reading = *along[d];
      if (!reading.segment.ghost) continue;
      if (reading.segment.owner == reading.reader) numbers[d] = reading.own_number;
      else ++others;
    }
    return others > 0 ? numbers : original;
  }

  void add_receive(int block, const Along& along, PiecesByRank& receives) const {
    BoxPiece piece{block, {}, {}, {}};
    std::array<int, max_dimensions> owner{};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Segment& segment = along[d]->segment;
      piece.cells.lo[d] = segment.lo;
      piece.cells.hi[d] = segment.hi;
      piece.shift[d] = segment.shift;
      piece.owner.lo[d] = axes_[d].starts[along[d]->reader];
      piece.owner.hi[d] = axes_[d].starts[along[d]->reader + 1];
      owner[d] = segment.owner;
    }
    const int rank = domain_.place_of(owner).rank;
    if (rank >= 0) receives[rank].push_back(keyed(along, block, piece));
  }

  void add_send(int block, const Along& along, PiecesByRank& sends) const {
    BoxPiece piece{block, {}, {}, {}};
    piece.at_owner = true;
    std::array<int, max_dimensions> reader{};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Segment& segment = along[d]->segment;
      reader[d] = along[d]->reader;
      piece.cells.lo[d] = segment.lo + segment.shift;
      piece.cells.hi[d] = segment.hi + segment.shift;
      piece.owner.lo[d] = axes_[d].starts[reader[d]] + segment.shift;
      piece.owner.hi[d] = axes_[d].starts[reader[d] + 1] + segment.shift;
    }
    const auto place = domain_.place_of(reader);
    if (place.rank >= 0) sends[place.rank].push_back(keyed(along, place.block, piece));
  }

  const CartesianDomain& domain_;
  std::vector<Block> blocks_;
  std::vector<PatternAxis> axes_;
  std::vector<AxisView> views_;
};

}  // namespace

Pattern build_pattern(const CartesianDomain& domain, const HaloWidth& ends) {
  HaloWidth owned_ends = 0;
  for (int d = 0; domain.boundary() == Boundary::owned && d < domain.dimensions(); ++d)
    owned_ends.lower[d] = ends.lower[d], owned_ends.upper[d] = ends.upper[d];
  const Builder builder(domain, owned_ends);
  Pattern pattern{domain.communicator(), domain.dimensions(), {}, builder.halo(), 0, 0, {},
      domain.stagger(), owned_ends};
  for (const Block& block : builder.blocks()) pattern.blocks.push_back(block.owned);
  pattern.stages.push_back(builder.stage());
  if (domain.algorithm() == Algorithm::standard) return pattern;
  std::vector<DimensionSet> each;
  for (int d = 0; d < domain.dimensions(); ++d) each.push_back(1u << d);
  return by_dimensions(pattern, each);
}

Pattern build_pattern(const CartesianDomain& domain) {
  return build_pattern(domain, domain.halo());
}

}  // namespace parhelion

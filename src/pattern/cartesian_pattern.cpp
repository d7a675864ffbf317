// A Cartesian pattern is a product of one-dimensional ones: along each axis, a block's extended
// range is cut into segments by owner; every combination with a ghost segment is a piece. Points
// are cut like cells: the point above a block's last cell is the next block's and adds a ghost
// layer. Layers beyond an end extend the block there. Grids with seams are no products
// (seam_pattern.cpp).
#include <algorithm>
#include <ranges>

#include "domain/blocks.hpp"
#include "pattern/by_dimensions.hpp"
#include "pattern/piece_lists.hpp"

namespace parhelion {
namespace {

// Part of a block's extended range along an axis, with one owner.
struct Segment {
  global_index lo, hi;  // in the receiver's coordinates
  global_index shift;   // to the owner's coordinates
  int owner;            // block position along the axis
  bool ghost;
  bool beyond;  // a ghost, but no held point
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
    const int owner = block_at(axis, at);
    const global_index end = std::min(hi, lo + axis.starts[owner + 1] - at);
    segments.push_back({lo, end, at - lo, owner, !own, beyond});
    lo = end;
  }
}

// A block without cells along an axis has no halo there.
std::vector<Segment> segments_of(const PatternAxis& axis, int block) {
  const global_index lo = axis.starts[block], hi = axis.starts[block + 1];
  std::vector<Segment> segments;
  if (lo == hi) return segments;
  const int next = points_of_next(axis, block);
  const global_index held = hi + (axis.apart ? next : 0);
  append_images(axis, lo - axis.lower, lo, false, true, segments);
  append_images(axis, lo, hi, true, false, segments);
  append_images(axis, hi, held, false, false, segments);
  append_images(axis, held, hi + axis.upper - axis.stagger + next, false, true, segments);
  return segments;
}

// A segment of block `reader`; its number orders pieces on both sides.
struct Reading {
  int reader;
  int number;
  int own_number;  // of the reader's owned segment
  Segment segment;
};

// Segments that this rank's blocks, or others between them, read along an axis, and that are read
// from them. Index: position − first.
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
      const int own = std::ranges::find(segments, false, &Segment::ghost) - segments.begin();
      for (int n = 0; n < std::ssize(segments); ++n) {
        if (mine) reads[b - first].push_back({b, n, own, segments[n]});
        const int owner = segments[n].owner;
        if (owner >= first && owner < first + blocks)
          read_from[owner - first].push_back({b, n, own, segments[n]});
      }
    }
  }

 private:
  // Whether block b's halo could reach these blocks: keeps set-up cheap on long axes.
  bool near(const PatternAxis& axis, int b, int blocks) const {
    const global_index lo = axis.starts[first], hi = axis.starts[first + blocks];
    const global_index from = axis.starts[b] - axis.lower, to = axis.starts[b + 1] + axis.upper;
    if (from < hi && to > lo) return true;
    return axis.periodic && (from < 0 || to > axis.extent);
  }
};

class Builder {
 public:
  Builder(const CartesianDomain& domain, const HaloWidth& ends) : domain_(domain), ends_(ends) {
    for (int d = 0; d < domain.dimensions(); ++d) {
      const PatternAxis& axis = axes_.emplace_back(
          domain.axis(d), ends.lower[d], ends.upper[d], domain.neighbors() == Neighbors::faces);
      const auto at = [d](const Block& block) { return block.position[d]; };
      const auto [first, last] = std::ranges::minmax(domain.blocks() | std::views::transform(at));
      views_.emplace_back(axis, first, last - first + 1);
    }
  }

  Pattern pattern() const {
    Pattern pattern{domain_.communicator(), domain_.dimensions(), {}, domain_.halo(), 0, 0, {},
        domain_.stagger(), ends_};
    for (int d = 0; d < domain_.dimensions(); ++d) pattern.halo.upper[d] = axes_[d].upper;
    for (const Block& block : domain_.blocks()) pattern.blocks.push_back(owned(block.position));
    pattern.stages.push_back(stage());
    return pattern;
  }

 private:
  using Along = std::array<const Reading*, max_dimensions>;
  using End = AxisView::Readings AxisView::*;

  Stage stage() const {
    if (!domain_.seams().empty()) return stage_with_seams(domain_, Reads::surroundings);
    PiecesByRank receives, sends;
    for (int b = 0; b < std::ssize(domain_.blocks()); ++b) {
      add_pieces(b, &AxisView::reads, receives);
      add_pieces(b, &AxisView::read_from, sends);
    }
    return join(receives, sends);
  }

  Box owned(const Position& position) const {
    Box box;
    for (int d = 0; d < domain_.dimensions(); ++d) {
      box.lo[d] = axes_[d].starts[position[d]];
      box.hi[d] = axes_[d].starts[position[d] + 1];
    }
    return box;
  }

  void add_pieces(int block, End end, PiecesByRank& pieces) const {
    std::array<const std::vector<Reading>*, max_dimensions> lists{};
    Position counts{1, 1, 1, 1};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      lists[d] = &(views_[d].*end)[domain_.blocks()[block].position[d] - views_[d].first];
      counts[d] = static_cast<int>(lists[d]->size());
    }
    for_each_index(Position{}, counts, [&](const Position& at) {
      Along along{};
      for (int d = 0; d < domain_.dimensions(); ++d) along[d] = &(*lists[d])[at[d]];
      if (is_wanted(along)) add_piece(block, along, end == &AxisView::read_from, pieces);
    });
  }

  // Combinations with a ghost segment; with Neighbors::faces, at most one beyond the held points.
  bool is_wanted(const Along& along) const {
    int ghosts = 0, beyond = 0;
    for (int d = 0; d < domain_.dimensions(); ++d)
      ghosts += along[d]->segment.ghost, beyond += along[d]->segment.beyond;
    return ghosts > 0 && (domain_.neighbors() == Neighbors::full || beyond <= 1);
  }

  // A block that is its own periodic neighbor along a dimension copies its own cells there: a
  // corner from another rank duplicates the edge or face beside it.
  Position first_numbers(const Along& along, Position numbers) const {
    const Position original = numbers;
    int others = 0;
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Reading& reading = *along[d];
      if (!reading.segment.ghost) continue;
      if (reading.segment.owner == reading.reader) numbers[d] = reading.own_number;
      else ++others;
    }
    return others > 0 ? numbers : original;
  }

  // Adds one end of a piece: a block's ghosts, or its cells at the owner.
  void add_piece(int block, const Along& along, bool at_owner, PiecesByRank& pieces) const {
    BoxPiece piece{block, {}, {}, {}, {}, at_owner};
    Position numbers{}, reader{}, owner{};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Segment& segment = along[d]->segment;
      piece.cells.lo[d] = segment.lo;
      piece.cells.hi[d] = segment.hi;
      piece.shift[d] = segment.shift;
      numbers[d] = along[d]->number;
      reader[d] = along[d]->reader;
      owner[d] = segment.owner;
    }
    piece.owner = owned(reader);
    if (at_owner) {
      piece.cells = translate(piece.cells, piece.shift);
      piece.owner = translate(piece.owner, std::exchange(piece.shift, {}));
    }
    const CartesianDomain::Place place = domain_.place_of(at_owner ? reader : owner);
    if (place.rank < 0) return;
    const int first = at_owner ? place.block : block;  // the reader's block orders both ends
    pieces[place.rank].push_back({{first, numbers}, {first, first_numbers(along, numbers)}, piece});
  }

  const CartesianDomain& domain_;
  HaloWidth ends_;
  std::vector<PatternAxis> axes_;
  std::vector<AxisView> views_;
};

}  // namespace

Pattern build_pattern(const CartesianDomain& domain, const HaloWidth& ends) {
  HaloWidth owned_ends = 0;
  for (int d = 0; domain.boundary() == Boundary::owned && d < domain.dimensions(); ++d)
    owned_ends.lower[d] = ends.lower[d], owned_ends.upper[d] = ends.upper[d];
  Pattern pattern = Builder(domain, owned_ends).pattern();
  if (domain.algorithm() == Algorithm::standard) return pattern;
  std::vector<DimensionSet> each;
  for (int d = 0; d < domain.dimensions(); ++d) each.push_back(1u << d);
  return by_dimensions(pattern, each);
}

Pattern build_pattern(const CartesianDomain& domain) {
  return build_pattern(domain, domain.halo());
}

}  // namespace parhelion

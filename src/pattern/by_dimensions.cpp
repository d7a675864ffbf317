#include "pattern/by_dimensions.hpp"

#include <algorithm>
#include <set>

namespace parhelion {
namespace {

struct LinkSide {
  Selection Link::* selection;
  local_index Link::* unique;
  std::vector<local_index> Link::* duplicate_of;
};
constexpr LinkSide sides[] = {{&Link::send, &Link::send_unique, &Link::send_duplicate_of},
    {&Link::receive, &Link::receive_unique, &Link::receive_duplicate_of}};

// The pieces beyond sides in `here`, over the ghosts of the dimensions `before`. A duplicate lies
// beyond a superset of its original's sides: the stage has the original, too.
Link part_of(const Link& link, const Pattern& pattern, const std::vector<Box>& reaches,
    DimensionSet here, DimensionSet before) {
  Link part{link.rank, {}, {}, 0, 0, {}, {}};
  for (const auto& [selection, unique, duplicate_of] : sides) {
    const std::vector<BoxPiece>& all = (link.*selection).boxes;
    std::vector<local_index> place(all.size(), -1);
    for (local_index i = 0; i < static_cast<local_index>(all.size()); ++i) {
      if ((ghost_dimensions(all[i], pattern.dimensions) & ~here) != 0) continue;
      const local_index repeated = i - link.*unique;
      if (repeated < 0) place[i] = (part.*unique)++;
      else (part.*duplicate_of).push_back(place[(link.*duplicate_of)[repeated]]);
      BoxPiece& piece = (part.*selection).boxes.emplace_back(all[i]);
      const Box& reach = reaches[piece.block];
      for (int d = 0; d < pattern.dimensions; ++d)
        if (has(before, d)) piece.cells.lo[d] = reach.lo[d], piece.cells.hi[d] = reach.hi[d];
    }
  }
  return part;
}

}  // namespace

std::vector<Box> reaches_of(const Pattern& pattern) {
  std::vector<Box> reaches = pattern.blocks;
  for (const Stage& stage : pattern.stages)
    for (const Link& link : stage)
      for (const BoxPiece& piece : link.receive.boxes) {
        Box& reach = reaches[piece.block];
        for (int d = 0; d < pattern.dimensions; ++d) {
          reach.lo[d] = std::min(reach.lo[d], piece.cells.lo[d]);
          reach.hi[d] = std::max(reach.hi[d], piece.cells.hi[d]);
        }
      }
  return reaches;
}

DimensionSet ghost_dimensions(const BoxPiece& piece, int dimensions) {
  unsigned ghosts = 0;
  for (int d = 0; d < dimensions; ++d)
    if (piece.cells.lo[d] < piece.owner.lo[d] || piece.cells.hi[d] > piece.owner.hi[d])
      ghosts |= 1u << d;
  return ghosts;
}

// Per side of a block: an interval of ghosts. Every combination is a piece, except at folds and
// land.
bool fills_corners(const Pattern& pattern) {
  if (pattern.indexed() || pattern.stages.size() != 1) return false;
  using Intervals = std::set<std::pair<global_index, global_index>>;
  std::vector<std::array<Intervals, max_dimensions>> ghosts(pattern.blocks.size());
  std::vector<std::size_t> pieces(pattern.blocks.size(), 1);
  for (const Link& link : pattern.stages.front())
    for (const BoxPiece& piece : link.receive.boxes) {
      if (piece.turn.seam) return false;
      const int block = piece.block;
      ++pieces[block];
      const DimensionSet beside = ghost_dimensions(piece, pattern.dimensions);
      for (std::size_t d = 0; d < max_dimensions; ++d)
        if (has(beside, d)) ghosts[block][d].emplace(piece.cells.lo[d], piece.cells.hi[d]);
    }
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    std::size_t all = 1;
    for (const Intervals& along : ghosts[b]) all *= 1 + along.size();
    if (pieces[b] != all) return false;
  }
  return true;
}

Pattern by_dimensions(const Pattern& pattern, const std::vector<DimensionSet>& stages) {
  if (pattern.indexed()) return pattern;
  Pattern ordered{pattern.communicator, pattern.dimensions, pattern.blocks, pattern.halo, 0, 0, {},
      pattern.stagger, pattern.ends};
  const std::vector<Box> reaches = reaches_of(pattern);
  DimensionSet before = 0;
  for (const DimensionSet here : stages) {
    Stage& stage = ordered.stages.emplace_back();
    for (const Link& link : pattern.stages.front()) {
      Link part = part_of(link, pattern, reaches, here, before);
      if (!part.send.empty() || !part.receive.empty()) stage.push_back(std::move(part));
    }
    before |= here;
  }
  return ordered;
}

}  // namespace parhelion

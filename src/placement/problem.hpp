// Input of placement methods: grid, stencil, and the machine as a tree of unit kinds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "parhelion/placement/score.hpp"

namespace parhelion::placement {

/// Looked up once. Memory: O(positions × levels).
class Units {
 public:
  explicit Units(const Machine& machine);

  int unit(int level, int position) const { return of_[position * levels_ + level]; }
  /// Outermost level at which two positions differ in units; the number of levels if none.
  int parting(int a, int b) const {
    const int *here = &of_[a * levels_], *there = &of_[b * levels_];
    int level = 0;
    while (level < levels_ && here[level] == there[level]) ++level;
    return level;
  }

 private:
  int levels_;
  std::vector<int> of_;
};

/// `edges_of(point, visit)` calls visit(to, bytes) for every edge of a point.
template <class EdgesOf>
Scores score_edges(const Machine& machine, const Units& units, const std::vector<int>& positions,
    const EdgesOf& edges_of) {
  const int levels = machine.levels();
  struct Traffic {
    std::int64_t edges = 0, bytes = 0, sent = 0;
  };
  std::vector<std::vector<Traffic>> sums;  // per level and unit
  for (int l = 0; l < levels; ++l) sums.emplace_back(machine.units(l));
  std::vector<Traffic> parting(levels + 1);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    std::ranges::fill(parting, Traffic{});
    Traffic leaving;
    edges_of(static_cast<int>(p), [&](int to, std::int64_t bytes) {
      Traffic& at = parting[units.parting(positions[p], positions[to])];
      ++at.edges, at.bytes += bytes, leaving.sent += bytes;
    });
    // Points that a level separates are separated by all inner levels.
    for (int l = 0; l < levels; ++l) {
      leaving.edges += parting[l].edges, leaving.bytes += parting[l].bytes;
      Traffic& unit = sums[l][units.unit(l, positions[p])];
      unit.edges += leaving.edges, unit.bytes += leaving.bytes, unit.sent += leaving.sent;
    }
  }
  Scores scores;
  for (const auto& level : sums) {
    LevelScore& all = scores.emplace_back();
    for (const auto& [edges, bytes, sent] : level) {
      all.edges_sum += edges, all.edges_max = std::max(all.edges_max, edges);
      all.bytes_sum += bytes, all.bytes_max = std::max(all.bytes_max, bytes);
      all.sent_max = std::max(all.sent_max, sent);
    }
  }
  return scores;
}

/// Like the public one, with the units at hand.
Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
    const Units& units, const std::vector<int>& positions);

template <class Visit>
void for_each_edge(const ProcessGrid& grid, const Stencil& stencil, int point, const Visit& visit) {
  const Coords at = point_of(grid.extent, point);
  int to = 0;
  for (const Offset& offset : stencil.offsets)
    if (neighbor(grid, at, offset.step, to)) visit(to, offset);
}

inline constexpr int max_levels = 10;

/// Bytes between units of each level inside one enclosing unit, outermost first.
using Costs = std::array<std::int64_t, max_levels>;

__extension__ using Weighed = __int128;  ///< holds 4^max_levels times any 64-bit value

/// Objective of the methods: a byte that crosses a level counts four times one that crosses only
/// the next inner level, so that a tiny gain between nodes does not spoil nodes' insides.
inline Weighed weighed(const Costs& costs) {
  Weighed total = 0;
  for (const auto cost : costs) total = 4 * total + cost;
  return total;
}

/// Units of one level with the same ranks and inner structure.
struct UnitKind {
  int level, ranks;         ///< level −1: the whole machine
  std::vector<int> parts;   ///< kinds of the non-empty units one level further in
  std::vector<int> starts;  ///< ranks before each part, and the end
  bool equal_parts;
  int position;  ///< of the first unit of this kind
};

/// Consecutive parts of a unit that fill a box; equal shares are built alike.
struct Share {
  int kind, first, count;  ///< count 0: inside an innermost unit

  friend auto operator<=>(const Share&, const Share&) = default;
};

class Problem {
 public:
  /// Throws Error as check_bytes does.
  Problem(ProcessGrid grid, Stencil stencil, const Machine& machine);

  const ProcessGrid grid;
  const Stencil stencil;
  const Machine& machine;
  const Units units;

  Share share(int first, int size) const;
  const UnitKind& kind(const Share& share) const { return kinds_[share.kind]; }
  const UnitKind& part(const Share& share, int index) const {
    return kinds_[kind(share).parts[share.first + index]];
  }

  /// Bytes of stencil edges inside the box that cross a cut after `thickness` slabs along `d`.
  std::int64_t cut(const Coords& box, int d, int thickness) const;
  /// Mean cost of a cut along each dimension per point of its face; ideal block lengths are
  /// proportional to it.
  const std::array<double, max_dimensions>& cut_weight() const { return cut_weight_; }
  /// Costs of placing the points of `box` in a share at `places`, from its outermost level.
  Costs costs(const Coords& box, const Share& share, const std::vector<int>& places) const;

 private:
  int intern(int level, int position, int ranks, std::vector<int> parts);
  int intern_unit(const NodeShape& shape, int level, int node, int first, int last);
  /// Whether the box's ends along `d` are adjacent.
  bool wraps(const Coords& box, int d) const {
    return grid.periodic[d] && box[d] == grid.extent[d];
  }

  std::vector<UnitKind> kinds_;  ///< the last is the whole machine
  std::array<double, max_dimensions> cut_weight_{};
};

}  // namespace parhelion::placement

#include "plan/compile.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "pattern/axis_map.hpp"

namespace parhelion {
namespace {

using Offset = RegionOffset;

Box region(const Box& owned, const HaloWidth& halo, const Offset& offset, int dimensions) {
  Box box = owned;
  for (int d = 0; d < dimensions; ++d) {
    if (offset[d] < 0) box.lo[d] = owned.lo[d] - halo.lower[d], box.hi[d] = owned.lo[d];
    if (offset[d] > 0) box.lo[d] = owned.hi[d], box.hi[d] = owned.hi[d] + halo.upper[d];
  }
  return box;
}

struct Source {
  int rank;
  AxisMap map;
  SeamTurn turn;
};
using Sources = std::map<Offset, Source>;

// Empty if some piece is not exactly one region.
std::optional<Sources> sources_of(const Pattern& pattern, const Stage& stage) {
  const Box& owned = pattern.blocks.front();
  Sources sources;
  for (const Link& link : stage)
    for (const BoxPiece& piece : link.receive.boxes) {
      const Offset offset = region_of(piece.cells, owned);
      const Source source{link.rank, to_owner(piece), piece.turn};
      if (piece.cells != region(owned, pattern.halo, offset, pattern.dimensions) ||
          !sources.emplace(offset, source).second)
        return {};
    }
  return sources;
}

Offset beyond(int d, int side) {
  Offset offset{};
  offset[d] = side;
  return offset;
}

// Whether ghosts beyond a side copy this rank's own cells.
bool is_own(const Pattern& pattern, const Offset& side, const Source& source) {
  const Box& owned = pattern.blocks.front();
  const Box image = source.map.of(region(owned, pattern.halo, side, pattern.dimensions));
  return source.rank == pattern.communicator.rank() && intersect(image, owned) == image &&
         !source.turn.exchanges_axes();
}

// Other axes that the copies across dimension `d` mirror.
DimensionSet mirrored_beside(const Sources& sources, int d) {
  DimensionSet mirrored = 0;
  for (const int side : {-1, 1})
    if (const auto own = sources.find(beyond(d, side)); own != sources.end())
      mirrored |= own->second.map.mirrored;
  return mirrored & static_cast<DimensionSet>(~(1u << d));
}

// Dimensions with only own ghosts; mirroring ones last: they read ghosts along the mirrored axes.
std::vector<int> own_dimensions(const Pattern& pattern, const Sources& sources) {
  std::vector<int> own, mirroring;
  for (int d = 0; d < pattern.dimensions; ++d) {
    int sides = 0, own_sides = 0;
    for (const int side : {-1, 1})
      if (const auto found = sources.find(beyond(d, side)); found != sources.end())
        ++sides, own_sides += is_own(pattern, found->first, found->second);
    if (sides > 0 && own_sides == sides)
      (mirrored_beside(sources, d) != 0 ? mirroring : own).push_back(d);
  }
  own.insert(own.end(), mirroring.begin(), mirroring.end());
  return own;
}

// Whether the ghosts at an offset copy those that the side's map yields across their last own
// dimension `d`.
bool is_image(
    const Pattern& pattern, const Sources& sources, Offset offset, int d, const Source& source) {
  const Box& owned = pattern.blocks.front();
  const Source& side = sources.at(beyond(d, offset[d]));
  const Box image = side.map.of(region(owned, pattern.halo, offset, pattern.dimensions));
  offset[d] = 0;
  for (int e = 0; e < pattern.dimensions; ++e)
    if (side.map.mirrors(e)) offset[e] = -offset[e];
  if (offset == Offset{}) return true;
  const auto from = sources.find(offset);
  if (from == sources.end()) return false;
  const Source& first = from->second;
  const Box ghosts = region(owned, pattern.halo, offset, pattern.dimensions);
  return intersect(image, ghosts) == image && first.rank == source.rank &&
         first.map.after(side.map) == source.map && first.turn.axes == source.turn.axes;
}

// Whether ghosts across own dimensions are such copies, and all others come from other ranks.
bool images_are_complete(
    const Pattern& pattern, const Sources& sources, const std::vector<int>& own) {
  return std::ranges::all_of(sources, [&](const auto& each) {
    const auto& [offset, source] = each;
    const auto last = std::find_if(own.rbegin(), own.rend(), [&](int d) { return offset[d] != 0; });
    if (last == own.rend()) return source.rank != pattern.communicator.rank();
    return is_image(pattern, sources, offset, *last, source);
  });
}

// Whether each combination of the offsets per dimension has ghosts; false around land.
bool is_product(const Sources& sources, int dimensions) {
  std::size_t all = 1;
  for (int d = 0; d < dimensions; ++d) {
    std::set<int> sides{0};
    for (const auto& [offset, source] : sources) sides.insert(offset[d]);
    all *= sides.size();
  }
  return sources.size() == all - 1;
}

// A mirrored axis needs equal widths on both sides.
bool mirrors_evenly(const Field& field, DimensionSet mirrored) {
  for (int d = 0; mirrored >> d != 0; ++d)
    if (has(mirrored, d) && field.halo.lower[d] != field.halo.upper[d]) return false;
  return true;
}

// Widths of the ghosts that have sources, for a field with its own halo.
HaloWidth reach(const Sources& sources, const HaloWidth& halo, int dimensions) {
  HaloWidth width = 0;
  for (const auto& [offset, source] : sources)
    for (int d = 0; d < dimensions; ++d) {
      if (offset[d] < 0) width.lower[d] = halo.lower[d];
      if (offset[d] > 0) width.upper[d] = halo.upper[d];
    }
  return width;
}

// Copies of one field, dimension by dimension.
class Wrapping {
 public:
  Wrapping(StagePlan& stage, const Plan& plan, int f, std::vector<int> own, DimensionSet mirrored,
      const Sources& sources)
      : stage_(stage), plan_(plan), f_(f), own_(std::move(own)), mirrored_(mirrored),
        sources_(sources), pattern_(plan.pattern_of(f)), field_(plan.fields[f]),
        others_(reach(sources, field_.halo, pattern_.dimensions)) {
    for (const int d : own_) others_.lower[d] = others_.upper[d] = 0;
    const auto& strides = field_.blocks[0].strides;
    const auto shorter = [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); };
    const auto mirroring =
        std::ranges::find_if(own_, [&](int d) { return mirrored_beside(sources, d) != 0; });
    std::stable_sort(own_.begin(), mirroring, shorter);
    for (int d = 0; d < pattern_.dimensions; ++d)
      if (shorter(d, fastest_)) fastest_ = d;
  }

  void add() {
    if (comes_from_others(fastest_) || mirrors_others())
      return add_around(stage_.wrap, grow(owned(), others_, pattern_.dimensions));
    add_around(stage_.wrap_owned, owned());
    Box inner = owned();
    for (int d = 0; d < pattern_.dimensions; ++d) {
      if (!comes_from_others(d)) continue;
      Box before = inner, behind = inner;
      before.lo[d] = owned().lo[d] - others_.lower[d], before.hi[d] = owned().lo[d];
      behind.lo[d] = owned().hi[d], behind.hi[d] = owned().hi[d] + others_.upper[d];
      if (!before.empty()) add_around(stage_.wrap, before);
      if (!behind.empty()) add_around(stage_.wrap, behind);
      inner.lo[d] = before.lo[d], inner.hi[d] = behind.hi[d];
    }
  }

 private:
  const Box& owned() const { return pattern_.blocks.front(); }
  bool comes_from_others(int d) const { return others_.lower[d] + others_.upper[d] > 0; }
  bool mirrors_others() const {
    for (int d = 0; d < pattern_.dimensions; ++d)
      if (has(mirrored_, d) && comes_from_others(d)) return true;
    return false;
  }

  // Copies cells along each own dimension, with the ghosts copied before.
  void add_around(Program& program, Box filled) const {
    for (const int d : own_) {
      for (const int side : {-1, 1}) {
        const auto own = sources_.find(beyond(d, side));
        if (own == sources_.end()) continue;
        const Box slab = region(owned(), field_.halo, own->first, pattern_.dimensions);
        Box ghosts = filled;
        ghosts.lo[d] = slab.lo[d], ghosts.hi[d] = slab.hi[d];
        if (ghosts.empty()) continue;
        const AxisMap& map = own->second.map;
        const SeamTurn& turn = own->second.turn;
        const BoxPiece from{0, map.of(ghosts), owned(), {}, turn, true},
            to{0, ghosts, owned(), map.shift, turn, false};
        program.add(copy_between(box_in_field(plan_, f_, from, from.cells),
            box_in_field(plan_, f_, to, ghosts), field_.element, is_negated(field_, to)));
      }
      if (sources_.contains(beyond(d, -1))) filled.lo[d] -= field_.halo.lower[d];
      if (sources_.contains(beyond(d, 1))) filled.hi[d] += field_.halo.upper[d];
    }
  }

  StagePlan& stage_;
  const Plan& plan_;
  int f_;
  std::vector<int> own_;   // dimensions by rising stride, mirroring ones last
  DimensionSet mirrored_;  // by those
  const Sources& sources_;
  const Pattern& pattern_;
  const Field& field_;
  HaloWidth others_;  // widths of ghosts from other ranks
  int fastest_ = 0;
};

}  // namespace

bool add_wrap(StagePlan& stage_plan, const Plan& plan, int group) {
  const Pattern& pattern = *plan.patterns[group];
  if (pattern.indexed() || pattern.stages.size() != 1 || pattern.blocks.size() != 1 ||
      pattern.blocks.front().empty())
    return false;
  const auto sources = sources_of(pattern, pattern.stages.front());
  if (!sources) return false;
  const auto own = own_dimensions(pattern, *sources);
  std::vector<int> fields;
  bool faces = false;
  for (int f = 0; f < plan.field_count(); ++f)
    if (plan.group_of[f] == group) {
      fields.push_back(f);
      faces = faces || plan.fields[f].neighbors == Neighbors::faces;
    }
  if (own.empty() || faces || !is_product(*sources, pattern.dimensions) ||
      !images_are_complete(pattern, *sources, own))
    return false;
  DimensionSet mirrored = 0;
  for (const int d : own) mirrored |= mirrored_beside(*sources, d);
  const auto is_even = [&](int f) { return mirrors_evenly(plan.fields[f], mirrored); };
  if (!std::ranges::all_of(fields, is_even)) return false;
  stage_plan.wrap_owned.dependence = stage_plan.wrap.dependence = Dependence::chain;
  for (const int f : fields) Wrapping(stage_plan, plan, f, own, mirrored, *sources).add();
  return true;
}

}  // namespace parhelion

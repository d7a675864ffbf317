// Pieces of grids with seams. A walk locates each ghost's source: leaving the grid or a tile
// through a side, it continues where the side's seam leads. Positions with equal maps form boxes: a
// box's corners decide for its interior.
//
// Coordinates are doubled here: cell x is at 2x + 1, point x at 2x. So seams act equally on both.
#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "domain/blocks.hpp"
#include "pattern/axis_map.hpp"
#include "pattern/piece_lists.hpp"

namespace parhelion {
namespace {

// A position in the grid or its continuation, turned relative to the walk's first block.
struct Image {
  Coordinates at;
  SeamTurn turn;
};

class Walk {
 public:
  explicit Walk(const CartesianDomain& domain)
      : domain_(domain), dimensions_(domain.dimensions()), tile_axis_(domain.tile_axis()) {
    for (int d = 0; d < dimensions_; ++d) {
      Axis axis = domain.axis(d);
      if (axis.stagger > 0 && !axis.periodic) --axis.extent, --axis.starts.back();
      axis.stagger = 0;
      axes_.push_back(std::move(axis));
    }
    tiles_ = tile_axis_ < 0 ? 1 : static_cast<int>(axes_[tile_axis_].extent);
    crossings_.resize(2 * tiles_ * max_dimensions);
    for (const Seam& seam : domain.seams()) {
      crossings_[number(seam.from)] = seam;
      crossings_[number(seam.to)] = inverse(seam);
    }
    find_signed();
  }

  const Axis& axis(int d) const { return axes_[d]; }  // of the cells
  int tile_axis() const { return tile_axis_; }
  int dimensions() const { return dimensions_; }

  // Doubled coordinate of a side's line; beyond it is beyond the seam, if any.
  global_index line(int tile, int d, Side side) const {
    const auto& crossing = at(tile, d, side);
    const int inward = crossing && crossing->pivot == Pivot::center ? 1 : 0;
    return side == Side::upper ? 2 * axes_[d].extent - inward : inward;
  }
  bool has_seam(int tile, int d, Side side) const { return at(tile, d, side).has_value(); }
  int tile_of(const Coordinates& at) const {
    return tile_axis_ < 0 ? 0 : static_cast<int>((at[tile_axis_] - 1) / 2);
  }

  // Locates a position in the grid. Empty beyond open sides, and if paths around a corner disagree.
  // Of several names, takes the first.
  std::optional<Image> find(const Image& from) const {
    std::optional<Image> found;
    bool unclear = false;
    walk(from, 0, found, unclear);
    return unclear ? std::nullopt : found;
  }

  Image cross(const Image& from, int d, Side side) const {
    const auto& crossing = at(tile_of(from.at), d, side);
    Image next = from;
    for (int e = 0; e < dimensions_; ++e) {
      if (e == d) continue;
      if (e == tile_axis_) {
        if (crossing->to.tile >= 0) next.at[e] = 2 * crossing->to.tile + 1;
        continue;
      }
      const bool backward = has(crossing->backward, e);
      next.at[crossing->axes[e]] =
          backward ? mirrored(from.at[e], axes_[e], crossing->pivot) : from.at[e];
    }
    const global_index here = line(tile_of(from.at), d, side);
    const global_index beyond = side == Side::upper ? from.at[d] - here : here - from.at[d];
    const global_index there = line(tile_of(next.at), crossing->to.axis, crossing->to.side);
    next.at[crossing->to.axis] = crossing->to.side == Side::upper ? there - beyond : there + beyond;
    next.turn.seam = true;
    for (int r = 0; r < dimensions_; ++r) {  // relative to the block where the walk began
      const int e = from.turn.axes[r];
      next.turn.axes[r] = static_cast<std::uint8_t>(crossing->axes[e]);
      if (e == d ? side == crossing->to.side : has(crossing->backward, e))
        next.turn.mirrored ^= 1u << r;
    }
    return next;
  }

  // Of fields with sign −1, which change it at each seam that mirrors an axis.
  std::int8_t sign(const SeamTurn& turn) const {
    return signed_ == 0 ? 0 : is_odd(turn.mirrored & signed_) ? -1 : 1;
  }

  // Below (−1), inside (0) or above (1) the grid; periodic axes have no outside.
  int outside(const Coordinates& at, int d) const {
    if (axes_[d].periodic) return 0;
    const int tile = tile_of(at);
    return at[d] < line(tile, d, Side::lower) ? -1 : at[d] > line(tile, d, Side::upper);
  }

  // All names of a point that blocks may hold, by tile, then coordinates: on a seam's line, one per
  // side; `reach` 1 includes points next to a center pivot's line.
  std::vector<Image> names(Image image, int reach) const {
    wrap(image);
    std::vector<Image> names{image};
    for (std::size_t n = 0; n < names.size(); ++n)
      for (int d = 0; d < dimensions_; ++d)
        for (const Side side : {Side::lower, Side::upper}) {
          if (d == tile_axis_ || !is_near(names[n].at, d, side, reach)) continue;
          if (!leads_on(names[n].at, d, side)) continue;
          Image other = cross(names[n], d, side);
          if (is_new(other, names, reach)) names.push_back(other);
        }
    std::erase_if(names, [&](const Image& each) { return !is_held(each); });
    std::ranges::sort(names, [&](const Image& a, const Image& b) {
      return std::pair(tile_of(a.at), a.at) < std::pair(tile_of(b.at), b.at);
    });
    return names;
  }

 private:
  static constexpr int most_crossings = 16;

  static bool is_odd(unsigned axes) { return std::popcount(axes) % 2 != 0; }

  // Axes of which each seam that mirrors any mirrors an odd number: then the sign does not depend
  // on the path.
  void find_signed() {
    std::set<unsigned> mirrored;
    bool turns = false;
    for (const Seam& seam : domain_.seams()) {
      const bool reflects = seam.from.side == seam.to.side;
      mirrored.insert(seam.backward | (reflects ? 1u << seam.from.axis : 0u));
      turns = turns || !std::ranges::is_sorted(seam.axes);
    }
    mirrored.erase(0);
    const auto fits = [&](unsigned axes) {
      return std::ranges::all_of(mirrored, [&](unsigned each) { return is_odd(each & axes); });
    };
    while (signed_ != 0 && (turns || !fits(signed_))) --signed_;
  }

  std::size_t number(const TileSide& side) const {
    return (std::max(side.tile, 0) * max_dimensions + side.axis) * 2 + (side.side == Side::upper);
  }
  const std::optional<Seam>& at(int tile, int d, Side side) const {
    return crossings_[number({d, side, tile})];
  }

  // A center pivot turns about the mirrored axis's first point, which the formula for cells would
  // send to the other end.
  static global_index mirrored(global_index at, const Axis& axis, Pivot pivot) {
    const global_index twice = 2 * axis.extent;
    if (pivot == Pivot::corner) return twice - at;
    return at == 1 ? 1 : twice + 2 - at;
  }

  // A center pivot applies only to positions inside the grid.
  bool leads_on(const Coordinates& from, int d, Side side) const {
    const auto& crossing = at(tile_of(from), d, side);
    for (int e = 0; crossing && crossing->pivot == Pivot::center && e < dimensions_; ++e)
      if (has(crossing->backward, e) && outside(from, e) != 0) return false;
    return crossing.has_value();
  }

  void wrap(Image& image) const {
    for (int r = 0; r < dimensions_; ++r) {
      const int d = image.turn.axes[r];
      const global_index twice = 2 * axes_[d].extent;
      if (!axes_[d].periodic || twice == 0) continue;
      image.at[d] = (image.at[d] % twice + twice) % twice;
      if (image.at[d] == 0 && is_upper(r)) image.at[d] = twice;
    }
  }
  bool is_upper(int d) const { return domain_.axis(d).stagger < 0; }
  // Upper points begin above the first cell.
  bool is_held(const Image& image) const {
    for (int r = 0; r < dimensions_; ++r)
      if (is_upper(r) && image.at[image.turn.axes[r]] == 0) return false;
    return true;
  }

  void walk(Image image, int crossed, std::optional<Image>& found, bool& unclear) const {
    wrap(image);
    bool inside = true;
    for (int d = 0; d < dimensions_; ++d) {
      const int side = outside(image.at, d);
      if (side == 0) continue;
      inside = false;
      const Side through = side < 0 ? Side::lower : Side::upper;
      if (crossed < most_crossings && leads_on(image.at, d, through))
        walk(cross(image, d, through), crossed + 1, found, unclear);
    }
    if (!inside) return;
    const std::vector<Image> all = names(image, 0);
    if (all.empty()) return;
    const Image& first = all.front();
    unclear = unclear || (found && (found->at != first.at || found->turn != first.turn));
    found = first;
  }

  bool is_near(const Coordinates& at, int d, Side side, int reach) const {
    const auto& crossing = this->at(tile_of(at), d, side);
    const bool center = crossing && crossing->pivot == Pivot::center;
    return std::abs(at[d] - line(tile_of(at), d, side)) <= (center ? reach : 0);
  }
  bool is_new(Image& name, const std::vector<Image>& names, int reach) const {
    wrap(name);
    for (int d = 0; d < dimensions_; ++d) {
      const int side = outside(name.at, d);
      if (side != 0 && !is_near(name.at, d, side < 0 ? Side::lower : Side::upper, reach))
        return false;
    }
    return std::ranges::none_of(names, [&](const Image& each) { return each.at == name.at; });
  }

  const CartesianDomain& domain_;
  int dimensions_, tile_axis_, tiles_ = 1;
  std::vector<Axis> axes_;
  std::vector<std::optional<Seam>> crossings_;  // from each side
  DimensionSet signed_ = 15;                    // 0: none
};

// The block that owns a position, and the map from the reader's coordinates.
struct Found {
  Position owner;
  Coordinates shift;
  SeamTurn turn;
  friend bool operator==(const Found&, const Found&) = default;
};

struct FoundBox {
  Box cells;  // in the reader's coordinates
  Found found;
  std::size_t first = 0;  // own index, or that of the box whose cells it repeats
  AxisMap map() const { return {found.shift, found.turn.mirrored}; }
};

class Reader {
 public:
  Reader(const CartesianDomain& domain, const Walk& walk, const Position& position, Reads reads)
      : domain_(domain), walk_(walk), position_(position), for_sums_(reads == Reads::held_points),
        owned_(owned_at(domain, position)) {}

  std::vector<FoundBox> boxes() const {
    std::vector<FoundBox> found;
    if (!owned_.empty()) find_boxes(found);
    for (int d = 0; d < domain_.dimensions(); ++d) merge_along(d, found);
    find_repeated(found);
    return found;
  }

  // Owned box from which a field's depth counts: without points of a next block beyond a seam.
  Box owner(const SeamTurn& turn) const {
    Box box = owned_;
    for (int d = 0; d < domain_.dimensions() && turn.seam; ++d)
      box.hi[d] -= domain_.stagger().more(d) - next_points(d);
    return box;
  }

 private:
  struct Segment {
    global_index lo, hi;
    bool beyond;  // outside the held points
    bool moved;   // a ghost, or on or beyond the line of a seam
  };

  int next_points(int d) const { return points_of_next(domain_.axis(d), position_[d]); }
  global_index doubled(global_index x, int d) const { return 2 * x + 1 - domain_.axis(d).stagger; }

  // Cuts an axis at the owned and held ends, and at lines.
  std::vector<Segment> segments(int d) const {
    const Axis& axis = domain_.axis(d);
    const global_index lo = owned_.lo[d], hi = owned_.hi[d], held = hi + next_points(d);
    std::set<global_index> cuts{lo, hi, held};
    if (!for_sums_) cuts.insert({lo - axis.lower, held + axis.upper});
    if (d == walk_.tile_axis())
      for (global_index x = lo; x < hi; ++x) cuts.insert(x);
    const global_index cells = walk_.axis(d).extent;
    for (const global_index x : lines(cells))
      if (x > *cuts.begin() && x < *cuts.rbegin()) cuts.insert(x);
    std::vector<Segment> all;
    for (auto next = cuts.begin(); std::next(next) != cuts.end(); ++next) {
      const global_index x = *next, end = *std::next(next);
      const bool at_end = doubled(x, d) <= 1 || doubled(end - 1, d) >= 2 * cells - 1;
      all.push_back({x, end, x < lo || x >= held, x < lo || x >= hi || at_end});
    }
    return all;
  }

  // Lines of seams; for sums also all block starts, which may be land, in both orientations.
  std::set<global_index> lines(global_index cells) const {
    std::set<global_index> found{-1, 0, 1, cells - 1, cells, cells + 1};
    for (int d = 0; for_sums_ && d < domain_.dimensions(); ++d)
      for (const global_index start : walk_.axis(d).starts)
        for (int beside = -1; beside <= 2; ++beside)
          found.insert({start + beside, cells - start + beside});
    return found;
  }

  void find_boxes(std::vector<FoundBox>& found) const {
    std::array<std::vector<Segment>, max_dimensions> along;
    Position counts{1, 1, 1, 1};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      along[d] = segments(d);
      counts[d] = static_cast<int>(along[d].size());
    }
    for_each_index(Position{}, counts, [&](const Position& at) {
      Box box;
      int beyond = 0;
      bool moved = false;
      for (int d = 0; d < domain_.dimensions(); ++d) {
        const Segment& segment = along[d][at[d]];
        box.lo[d] = segment.lo, box.hi[d] = segment.hi;
        beyond += segment.beyond;
        moved = moved || segment.moved;
      }
      if (moved && (domain_.neighbors() == Neighbors::full || beyond <= 1)) split(box, found);
    });
  }

  // Bisects until all corners, hence the interior, have one source.
  void split(const Box& box, std::vector<FoundBox>& found) const {
    const int dimensions = domain_.dimensions();
    for (int d = 0; d < dimensions; ++d)
      for (unsigned corner = 0; box.extent(d) > 1 && corner < 1u << dimensions; ++corner) {
        if ((corner >> d & 1) != 0 || !is_corner(box, corner)) continue;
        Coordinates at = box.lo;
        for (int e = 0; e < dimensions; ++e)
          if (corner >> e & 1) at[e] = box.hi[e] - 1;
        const global_index end = end_of(at, d, box.hi[d]);
        if (end == box.hi[d]) continue;
        Box first = box, second = box;
        first.hi[d] = second.lo[d] = end;
        split(first, found), split(second, found);
        return;
      }
    const auto here = find(box.lo);
    if (here && *here != Found{position_, {}, {}}) found.push_back({box, *here});
  }
  static bool is_corner(const Box& box, unsigned corner) {
    for (int e = 0; e < max_dimensions; ++e)
      if ((corner >> e & 1) != 0 && box.extent(e) < 2) return false;
    return true;
  }

  // Merges adjacent boxes of one source, but not owned cells with ghosts.
  void merge_along(int d, std::vector<FoundBox>& all) const {
    const auto beside = [d](const FoundBox& each) {
      Box box = each.cells;
      box.lo[d] = box.hi[d] = 0;
      return std::pair(box.lo, box.hi);
    };
    std::ranges::sort(all, [&](const FoundBox& a, const FoundBox& b) {
      return std::tuple(beside(a), a.cells.lo[d]) < std::tuple(beside(b), b.cells.lo[d]);
    });
    std::vector<FoundBox> merged;
    for (const FoundBox& next : all) {
      FoundBox* const last = merged.empty() ? nullptr : &merged.back();
      const global_index cut = next.cells.lo[d];
      if (last && last->cells.hi[d] == cut && last->found == next.found &&
          beside(*last) == beside(next) && cut != owned_.lo[d] && cut != owned_.hi[d])
        last->cells.hi[d] = next.cells.hi[d];
      else merged.push_back(next);
    }
    all = std::move(merged);
  }

  // If all ghosts on a side are the block's own cells, edges and corners there are duplicates.
  void find_repeated(std::vector<FoundBox>& all) const {
    std::map<RegionOffset, std::vector<std::size_t>> regions;
    for (std::size_t b = 0; b < all.size(); ++b) {
      regions[region_of(all[b].cells, owned_)].push_back(b);
      all[b].first = b;
    }
    for (std::size_t b = 0; b < all.size(); ++b) {
      RegionOffset region = region_of(all[b].cells, owned_);
      AxisMap map;
      RegionOffset before{};
      do {  // a side may mirror an axis that another side has to reduce first
        before = region;
        for (const bool seam : {false, true})
          for (int d = 0; d < domain_.dimensions(); ++d) {
            const auto own = own_side(d, region[d], seam, all, regions);
            if (!own || mirrors_ghosts(*own, d, region)) continue;
            map = own->after(map);
            region[d] = 0;
          }
      } while (region != before);
      for (const std::size_t a : regions[region])
        if (repeats(all[b], map, all[a])) all[b].first = a;
    }
  }

  // The map of the ghosts beyond a side, across a seam or not, if they are this block's own places.
  std::optional<AxisMap> own_side(int d, int side, bool seam, const std::vector<FoundBox>& all,
      const std::map<RegionOffset, std::vector<std::size_t>>& regions) const {
    const Axis& axis = domain_.axis(d);
    if (side != 0 && axis.periodic && axis.blocks() == 1) {
      AxisMap map;
      map.shift[d] = -side * axis.extent;
      return seam ? std::nullopt : std::optional(map);
    }
    RegionOffset region{};
    region[d] = side;
    const auto found = regions.find(region);
    if (side == 0 || found == regions.end() || found->second.size() != 1) return {};
    const FoundBox& box = all[found->second.front()];
    for (int e = 0; e < domain_.dimensions(); ++e)
      if (e != d && box.cells.extent(e) != owned_.extent(e)) return {};
    const bool own = box.found.owner == position_ && !box.found.turn.exchanges_axes() &&
                     box.found.turn.seam == seam;
    return own ? std::optional(box.map()) : std::nullopt;
  }
  static bool mirrors_ghosts(const AxisMap& map, int d, const RegionOffset& region) {
    for (int e = 0; e < max_dimensions; ++e)
      if (e != d && region[e] != 0 && map.mirrors(e)) return true;
    return false;
  }
  static bool repeats(const FoundBox& box, const AxisMap& map, const FoundBox& first) {
    const Box image = map.of(box.cells);
    return intersect(image, first.cells) == image && first.map().after(map) == box.map() &&
           first.found.owner == box.found.owner && first.found.turn.axes == box.found.turn.axes;
  }

  // Binary search: end, at most `hi`, of the positions along axis d with one source.
  global_index end_of(Coordinates at, int d, global_index hi) const {
    const auto here = find(at);
    global_index same = at[d], other = hi;
    at[d] = hi - 1;
    if (find(at) == here) return hi;
    for (other = hi - 1; other - same > 1;) {
      at[d] = same + (other - same) / 2;
      (find(at) == here ? same : other) = at[d];
    }
    return other;
  }

  std::optional<Found> find(const Coordinates& at) const {
    Image start{{}, {}};
    for (int d = 0; d < domain_.dimensions(); ++d) start.at[d] = doubled(at[d], d);
    const auto image = walk_.find(start);
    if (!image) return {};
    Found found{{}, {}, image->turn};
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const global_index x = point_at(*image, d);
      place(found, at, d, owner_along(walk_.axis(found.turn.axes[d]), x, d), x);
    }
    if (!for_sums_ || is_wet(found)) return found;
    for (const Image& name : walk_.names(start, 1)) {
      found.turn = name.turn;
      if (!seek_wet(name, at, 0, found)) continue;
      found.turn.seam = false;
      found.turn.seam = found != Found{position_, {}, {}};
      return found;
    }
    return {};
  }
  global_index point_at(const Image& image, int d) const {
    return (image.at[image.turn.axes[d]] - 1 + domain_.axis(d).stagger) >> 1;
  }
  static void place(Found& found, const Coordinates& at, int d, int block, global_index x) {
    found.shift[d] = has(found.turn.mirrored, d) ? x + at[d] : x - at[d];
    found.owner[found.turn.axes[d]] = block;
  }
  bool is_wet(const Found& found) const { return domain_.place_of(found.owner).rank >= 0; }

  // Finds the first wet block with the point, as its own or above its last cell.
  bool seek_wet(const Image& name, const Coordinates& at, int there, Found& found) const {
    if (there == domain_.dimensions()) return is_wet(found);
    const auto& axes = name.turn.axes;
    const int d = std::ranges::find(axes, there) - axes.begin();
    const Axis& axis = walk_.axis(there);
    const global_index x = point_at(name, d);
    const int block = owner_along(axis, x, d);
    const auto is_found = [&](int in, global_index as) {
      place(found, at, d, in, as);
      return seek_wet(name, at, there + 1, found);
    };
    const auto before = [&](int in, global_index as) {
      for (; in >= 0 && axis.starts[in + 1] == as; --in)
        if (axis.starts[in] < as && is_found(in, as)) return true;
      return false;
    };
    if (is_found(block, x)) return true;
    return domain_.axis(d).stagger > 0 &&
           (before(block - 1, x) ||
               (axis.periodic && x == 0 && before(axis.blocks() - 1, axis.extent)));
  }

  // The last block owns the last point.
  int owner_along(const Axis& axis, global_index x, int d) const {
    const bool is_last = domain_.axis(d).stagger > 0 && x == axis.extent;
    return is_last ? axis.blocks() - 1 : block_at(axis, x);
  }

  const CartesianDomain& domain_;
  const Walk& walk_;
  Position position_;
  bool for_sums_;
  Box owned_;
};

// Blocks that may read from a block: those that its own halo reaches by any path.
class Surroundings {
 public:
  Surroundings(const CartesianDomain& domain, const Walk& walk) : walk_(walk) {
    for (int d = 0; d < domain.dimensions(); ++d)
      width_ = std::max({width_, domain.axis(d).lower, domain.axis(d).upper});
  }

  void add(const Box& cells) {
    Reach reach;
    for (int d = 0; d < walk_.dimensions(); ++d)
      reach.lo[d] = 2 * cells.lo[d], reach.hi[d] = 2 * cells.hi[d];
    const int tile_axis = walk_.tile_axis();
    if (tile_axis < 0) return spread_around(reach);
    for (global_index tile = cells.lo[tile_axis]; tile < cells.hi[tile_axis]; ++tile) {
      reach.lo[tile_axis] = reach.hi[tile_axis] = 2 * tile + 1;
      spread_around(reach);
    }
  }
  const std::set<Position>& blocks() const { return blocks_; }

 private:
  // Both ends inclusive.
  struct Reach {
    Coordinates lo{}, hi{};
    friend auto operator<=>(const Reach&, const Reach&) = default;
  };

  // Grows the block under each name: a point where seams meet is in several tiles.
  void spread_around(const Reach& block) {
    std::set<Reach> names;
    spread(block, names);
    for (Reach each : names) {
      for (int d = 0; d < walk_.dimensions(); ++d) {
        const int wide = d == walk_.tile_axis() ? 0 : 2 * width_ + 2;
        each.lo[d] -= wide, each.hi[d] += wide;
      }
      spread(each, seen_);
    }
  }

  void spread(const Reach& from, std::set<Reach>& seen) {
    if (!seen.insert(from).second) return;
    Reach inside = from;
    for (int d = 0; d < walk_.dimensions(); ++d) {
      if (d == walk_.tile_axis()) continue;
      const global_index twice = 2 * walk_.axis(d).extent;
      const int tile = walk_.tile_of(from.lo);
      for (const Side side : {Side::lower, Side::upper}) {
        const bool upper = side == Side::upper;
        const global_index line = walk_.line(tile, d, side);
        if (upper ? from.hi[d] < line : from.lo[d] > line) continue;
        Reach part = from;
        if (upper) part.lo[d] = std::max(part.lo[d], line);
        else part.hi[d] = std::min(part.hi[d], line);
        if (walk_.axis(d).periodic && twice > 0) {
          part.lo[d] += upper ? -twice : twice, part.hi[d] += upper ? -twice : twice;
          spread(part, seen);
        } else if (walk_.has_seam(tile, d, side)) {
          spread(across(part, d, side), seen);
        }
      }
      inside.lo[d] = std::max<global_index>(inside.lo[d], 0);
      inside.hi[d] = std::min(inside.hi[d], twice);
    }
    collect(inside);
  }

  Reach across(const Reach& part, int d, Side side) const {
    const Image lo = walk_.cross({part.lo, {}}, d, side);
    const Image hi = walk_.cross({part.hi, {}}, d, side);
    Reach reach;
    for (int e = 0; e < walk_.dimensions(); ++e) {
      // Conservative: includes both ends of an axis about which a center pivot turns.
      const bool turns = e != walk_.tile_axis() && e != d && part.lo[e] <= 1;
      const auto ends = std::minmax(lo.at[e], hi.at[e]);
      reach.lo[e] = turns ? std::min<global_index>(ends.first, 0) : ends.first;
      reach.hi[e] = turns ? std::max(ends.second, 2 * walk_.axis(e).extent) : ends.second;
    }
    return reach;
  }

  void collect(const Reach& reach) {
    const auto twice = [](global_index start) { return 2 * start; };
    Position first{}, end{1, 1, 1, 1};
    for (int d = 0; d < walk_.dimensions(); ++d) {
      const auto& starts = walk_.axis(d).starts;
      const auto lo = std::ranges::lower_bound(starts, reach.lo[d], {}, twice);
      const auto hi = std::ranges::upper_bound(starts, reach.hi[d], {}, twice);
      if (reach.lo[d] > reach.hi[d]) return;
      first[d] = std::max<int>(lo - starts.begin() - 1, 0);
      end[d] = std::min<int>(hi - starts.begin(), walk_.axis(d).blocks());
    }
    for_each_index(first, end, [&](const Position& position) { blocks_.insert(position); });
  }

  const Walk& walk_;
  int width_ = 0;
  std::set<Reach> seen_;
  std::set<Position> blocks_;
};

Box at_owner(const Box& box, const FoundBox& each, int dimensions) {
  const Box seen = each.map().of(box);
  Box there;
  for (int d = 0; d < dimensions; ++d) {
    const int axis = each.found.turn.axes[d];
    there.lo[axis] = seen.lo[d], there.hi[axis] = seen.hi[d];
  }
  return there;
}

}  // namespace

Stage stage_with_seams(const CartesianDomain& domain, Reads reads) {
  const Walk walk(domain);
  Surroundings around(domain, walk);
  std::set<Position> own;
  for (const Block& block : domain.blocks()) around.add(block.owned), own.insert(block.position);
  std::set<Position> readers = around.blocks();
  readers.insert(own.begin(), own.end());
  PiecesByRank receives, sends;
  for (const Position& position : readers) {
    const CartesianDomain::Place here = domain.place_of(position);
    if (here.rank < 0) continue;
    const Reader reader(domain, walk, position, reads);
    int number = 0;
    for (const FoundBox& each : reader.boxes()) {
      const Found& found = each.found;
      const CartesianDomain::Place owner = domain.place_of(found.owner);
      const PieceKey key{here.block, {number++}}, first{here.block, {static_cast<int>(each.first)}};
      if (owner.rank < 0) continue;
      SeamTurn turn = found.turn;
      turn.sign = walk.sign(turn);
      const BoxPiece ghosts{here.block, each.cells, reader.owner(turn), found.shift, turn, false};
      if (own.count(position) != 0) receives[owner.rank].push_back({key, first, ghosts});
      if (own.count(found.owner) == 0) continue;
      BoxPiece cells{owner.block, at_owner(ghosts.cells, each, domain.dimensions()),
          at_owner(ghosts.owner, each, domain.dimensions()), {}, turn, true};
      sends[here.rank].push_back({key, first, cells});
    }
  }
  return join(receives, sends);
}

}  // namespace parhelion

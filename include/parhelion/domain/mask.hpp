// Land masks of grids and process grids.
#pragma once

#include <functional>
#include <vector>

#include "parhelion/domain/box.hpp"

namespace parhelion {

/// Defined in cartesian_domain.hpp.
enum class RankFill : std::uint8_t;

/// Whether a box has a wet cell.
using Mask = std::function<bool(const Box&)>;

/// Mask of the cells for which `is_wet` returns true. `own`: extents of the mask, those of the grid
/// or 1 in dimensions along which it is constant. The first query evaluates all cells of `own` into
/// a table of 8 bytes per cell; it throws Error for other extents.
///
///     options.mask = mask_of(extents, extents,
///                            [&](const Coordinates& at) { return depth(at) > 0; });
Mask mask_of(std::vector<global_index> extents, std::vector<global_index> own,
    std::function<bool(const Coordinates&)> is_wet);
/// From one byte per cell of `own`, nonzero if wet, last dimension fastest, which must outlive the
/// first query.
Mask mask_of(
    std::vector<global_index> extents, std::vector<global_index> own, const std::uint8_t* cells);

/// Per dimension, each process coordinate's first cell, then the extent.
using Cuts = std::vector<std::vector<global_index>>;
/// Appends the ends of even parts; the first get the remainder.
void append_even_parts(std::vector<global_index>& starts, global_index cells, int parts);

/// For a mask without a wet cell.
inline constexpr const char* no_wet_cell =
    "the mask has no wet cell: give wet cells a value that is not 0";
/// Most places of a process grid with land.
inline constexpr int most_places = 1 << 24;

/// The places of a process grid with a wet cell, which have a rank, numbered as ranks fill the
/// grid. 12 bytes per 64 places.
class WetPlaces {
 public:
  WetPlaces() = default;
  WetPlaces(const Cuts& cuts, RankFill fill, const Mask& mask);
  /// From another rank's `words()`.
  explicit WetPlaces(std::vector<std::uint64_t> words);

  bool empty() const { return words_.empty(); }
  int count() const { return before_.empty() ? 0 : before_.back(); }
  /// Rank at a place, −1 if dry, and its inverse.
  int rank_of(int place) const;
  int place_of(int rank) const;
  /// One bit per place.
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<int> before_;  // wet places before each word; the total
};

/// A process grid with land.
struct GridWithLand {
  std::vector<int> grid;
  int ranks;          ///< number of wet places
  global_index halo;  ///< of the largest block, in cells
};
/// Process grids of even blocks with about `ranks` wet places, by halo size: the three smallest
/// halos for each number of places within 8·√n of the n that the share of wet cells predicts.
/// Local. Throws Error if no cell is wet, for less than 1 rank, or for more than `most_places`
/// places.
std::vector<GridWithLand> grids_with_land(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo, const Mask& mask);

}  // namespace parhelion

// Land: which cells of a grid are dry, and which places of a process grid have no rank for that.
#pragma once

#include <functional>
#include <vector>

#include "parhelion/domain/box.hpp"

namespace parhelion {

/// See cartesian_domain.hpp.
enum class RankFill : std::uint8_t;

/// Whether a box of the grid's cells has a wet one.
using Mask = std::function<bool(const Box&)>;

/// The mask of the cells for which `is_wet` is true. `own`: extents of what it tells, those of the
/// grid, or 1 in dimensions along which all cells are alike. The first question asks it for each
/// cell of `own`, and makes a table of 8 bytes for each; other extents throw Error then. Local.
///
///     options.mask = mask_of(extents, extents, [&](const Coordinates& at) { return depth(at) > 0;
///     });
Mask mask_of(std::vector<global_index> extents, std::vector<global_index> own,
             std::function<bool(const Coordinates&)> is_wet);
/// Of an array with a byte for each cell of `own`, not 0 where it is wet, the last dimension
/// fastest. It must stay until the mask has been asked.
Mask mask_of(std::vector<global_index> extents, std::vector<global_index> own,
             const std::uint8_t* cells);

/// For each dimension, the first cell of each process coordinate, and at the end the extent.
using Cuts = std::vector<std::vector<global_index>>;
/// Appends the ends of nearly equal parts; the first ones have the cells that are left over.
void append_even_parts(std::vector<global_index>& starts, global_index cells, int parts);

/// What the error says where no cell is wet.
inline constexpr const char* no_wet_cell =
    "the mask has no wet cell: give wet cells a value that is not 0";
/// Process grids with land have so many places at most.
inline constexpr int most_places = 1 << 24;

/// The places of a process grid that have a wet cell, which are those that have a rank, numbered as
/// ranks fill the grid. Holds 12 bytes for 64 places.
class WetPlaces {
public:
    WetPlaces() = default;
    WetPlaces(const Cuts& cuts, RankFill fill, const Mask& mask);
    /// From what `words` told elsewhere.
    explicit WetPlaces(std::vector<std::uint64_t> words);

    bool empty() const { return words_.empty(); }
    int count() const { return before_.empty() ? 0 : before_.back(); }
    /// −1 where it is dry.
    int rank_of(int place) const;
    int place_of(int rank) const;
    /// One bit per place.
    const std::vector<std::uint64_t>& words() const { return words_; }

private:
    std::vector<std::uint64_t> words_;
    std::vector<int> before_;  // wet places before each word, and all
};

/// A process grid of which only some places have a wet cell.
struct GridWithLand {
    std::vector<int> grid;
    int ranks;          ///< places with a wet cell
    global_index halo;  ///< cells of the largest block's halo
};
/// Grids of even blocks that have about as many wet places as there are ranks, sorted by their
/// halo. Of each number of places n that is within 8·√n of what the share of wet places lets
/// expect, the three with the least halo are looked at. Local. Throws Error where no cell is wet,
/// for less than 1 rank, and for more places than `most_places`.
std::vector<GridWithLand> grids_with_land(int ranks, const std::vector<global_index>& extents,
                                          const HaloWidth& halo, const Mask& mask);

}  // namespace parhelion

// A structured grid of cells, split over a process grid.
#pragma once

#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/box.hpp"
#include "parhelion/domain/mask.hpp"

namespace parhelion {

class Properties;

/// Ghosts from across faces (2·d neighbors), or also edges and corners (3^d − 1).
enum class Neighbors : std::uint8_t { full, faces };

/// Standard: one message to every neighbor. Staged: dimension after dimension, corners travel
/// through neighbors, 2·d messages (needs Neighbors::full).
enum class Algorithm : std::uint8_t { standard, staged };

/// One flag, in braces or not, is for all dimensions; a list has one for each.
struct Periodicity {
    std::array<bool, max_dimensions> along{};
    int listed = 0;  ///< dimensions that a list named; 0: all
    Periodicity() = default;
    Periodicity(bool everywhere) { along.fill(everywhere); }  // NOLINT: `.periodic = true`
    Periodicity(std::initializer_list<bool> per_dimension)
        : listed(fill_per_dimension(along, per_dimension)) {}
};

/// The layers of an array beyond an end that is not periodic. Open: nobody's, left alone. Owned:
/// the rank there owns as many as the field's depth, so that its neighbors get them as ghosts.
enum class Boundary : std::uint8_t { open, owned };

/// Which end of an axis.
enum class Side : std::uint8_t { lower, upper };

/// The line about which a fold mirrors. Corner: between the last row of cells and the ghosts
/// (NEMO's F pivot). Center: through the centers of the last row (NEMO's T pivot), whose points two
/// cells hold; both have the value of the one with the smaller index after an exchange.
enum class Pivot : std::uint8_t { corner, center };

/// A side of the grid, or of one of its tiles.
struct TileSide {
    static constexpr int every_tile = -1;
    int axis = 0;
    Side side = Side::upper;
    int tile = every_tile;  ///< in a grid of tiles
    friend bool operator==(const TileSide&, const TileSide&) = default;
};

/// Joins two sides, or a side to itself: who leaves the grid through `from` enters it through `to`,
/// and the other way. The other axes become those that `axes` names, backward where `backward` has
/// their bit.
///
///     Seam{{0, Side::lower}, {0, Side::upper}, {}, 0b10}        a Möbius strip: axis 1 is turned
struct Seam {
    TileSide from, to;
    std::vector<int> axes = {};  ///< of `to`, for each axis of `from`; empty: the axes of the two
                                 ///< sides change places
    std::uint8_t backward = 0;   ///< bit d: axis d of `from`
    Pivot pivot = Pivot::corner;
    friend bool operator==(const Seam&, const Seam&) = default;
};

/// A side that is joined to itself, mirrored, as the north of a tripolar ocean grid is. With n
/// cells along the axis `mirrored` and m along `axis`, whose upper side is folded, the ghost (i, m
/// − 1 + k) holds
///
///     corner: cell (n − 1 − i, m − k)        center: cell ((n − i) mod n, m − 1 − k)
///
/// and points of staggered fields are mirrored about the same place.
Seam fold(int axis, Side side, Pivot pivot, int mirrored);
/// Mirrors the axis before the folded one; behind axis 0 axis 1.
Seam fold(int axis = 1, Side side = Side::upper, Pivot pivot = Pivot::corner);

/// The seams of a cube whose faces are the tiles 0 to 5 of n × n cells along `first_axis` and the
/// axis after it. Faces 0 to 3 go around the equator, each to the upper side of the one before it
/// along the first axis; face 4 lies at the upper sides along the second axis, continuing face 0,
/// and face 5 at the lower ones.
std::vector<Seam> cube_seams(int first_axis = 1);

/// How ranks fill the process grid without a table. of_communicator: as MPI_Cart_create numbered
/// them, with the grid and periodicity of the Cartesian communicator.
enum class RankFill : std::uint8_t { last_fastest, first_fastest, of_communicator };

/// A rule, or a table with the rank at each place of the process grid (the last dimension fastest,
/// without those that a mask leaves out).
///
///     .rank_order = RankFill::first_fastest        .rank_order = {0, 2, 1, 3}
struct RankOrder {
    RankFill fill = RankFill::last_fastest;
    std::vector<int> ranks = {};  ///< not empty: the table
    RankOrder(RankFill rule = RankFill::last_fastest)
        : fill(rule) {}  // NOLINT: `.rank_order = RankFill::first_fastest`
    RankOrder(std::vector<int> table) : ranks(std::move(table)) {}  // NOLINT
    RankOrder(std::initializer_list<int> table) : ranks(table) {}
};

/// How a grid is split, and which ghosts are wanted.
struct CartesianOptions {
    HaloWidth halo = 1;
    Periodicity periodic = false;
    std::vector<int> process_grid = {};  ///< ranks per dimension; empty: chosen for the least halo
    std::vector<std::vector<global_index>> splits =
        {};  ///< per dimension, cells of each process coordinate; empty: even
    std::vector<int> blocks_per_rank = {};  ///< blocks per dimension on each rank; empty: one
    Neighbors neighbors = Neighbors::full;
    Algorithm algorithm = Algorithm::standard;
    RankOrder rank_order = {};
    Boundary boundary = Boundary::open;
    std::vector<Seam> seams = {};  ///< each side has one at most
    int tile_axis = no_tiles;      ///< the axis that counts tiles: grids of their own, joined by
                                   ///< seams alone. It has no halo and is not periodic
    static constexpr int no_tiles = -1;
    /// Land: places of the process grid without a wet cell get no rank, the others are as many as
    /// ranks. Given on every rank, asked on rank 0 alone during construction. See `mask_of`.
    Mask mask = {};
};

/// How one dimension is cut: block b has the cells, or staggered points, `starts[b] ≤ x <
/// starts[b+1]`.
struct Axis {
    global_index extent =
        1;  ///< cells, or points: one more than cells, as many where it is periodic
    int ranks = 1;
    int blocks_per_rank = 1;
    bool periodic = false;
    int lower = 0, upper = 0;
    int stagger = 0;  ///< see Stagger
    std::vector<global_index> starts{0, 1};

    int blocks() const { return ranks * blocks_per_rank; }
};

/// A block of cells that this rank owns.
struct Block {
    Box owned;  ///< global coordinates; may be empty
    Box held;   ///< what an array has without its halo: owned, and the first points of the next
                ///< block
    std::array<int, max_dimensions> position{};  ///< in the grid of all blocks
};

/// Who owns which cell of a structured grid of 1 to 4 dimensions.
///
/// Construction is collective over `comm` (one reduction; with a mask one more, and a broadcast); a
/// difference between the ranks' arguments is reported on every rank. Extents that do not divide
/// give the first ranks one cell more; a rank may own nothing, and a halo may be wider than the
/// neighbor's block. Errors (on every rank): no or more than 4 dimensions, negative extents or
/// widths, lists of another length, a process grid whose product is not the number of ranks, splits
/// that do not add up, a table that does not name each rank once, no topology where it is to be
/// taken from the communicator; seams of sides that are periodic, joined twice, of different
/// numbers of cells, or of an axis not longer than the halo (folded on both sides: than both
/// halos); seams or a mask with the staged algorithm, seams with an owned boundary; another number
/// of wet places than ranks.
///
///     parhelion::CartesianDomain domain{{768, 768, 768}, {.halo = 2, .periodic = true}, comm};
class CartesianDomain {
public:
    CartesianDomain(std::vector<global_index> extents, CartesianOptions options = {},
                    Communicator comm = MPI_COMM_WORLD);

    int dimensions() const { return dimensions_; }
    /// Cells, blocks and periodicity of a dimension.
    const Axis& axis(int d) const { return axes_[d]; }
    std::vector<global_index> extents() const;
    std::vector<int> process_grid() const;
    /// Place of this rank, or of any other, in the process grid. Local.
    std::vector<int> coordinates() const { return coordinates_of(comm_.rank()); }
    std::vector<int> coordinates_of(int rank) const;
    const HaloWidth& halo() const { return halo_; }
    /// All 0: a domain of cells.
    const Stagger& stagger() const { return stagger_; }
    Boundary boundary() const { return boundary_; }
    Neighbors neighbors() const { return neighbors_; }
    Algorithm algorithm() const { return algorithm_; }
    /// With their axes, and one for each tile.
    const std::vector<Seam>& seams() const { return seams_; }
    int tile_axis() const { return tile_axis_; }
    /// Places of the process grid that have a rank, where there was a mask; else empty.
    const WetPlaces& wet_places() const { return wet_; }
    const Communicator& communicator() const { return comm_; }

    /// Blocks of this rank, last dimension fastest; their index is the block number of a field.
    const std::vector<Block>& blocks() const { return blocks_; }
    const Box& owned(int block = 0) const {
        return blocks_.at(static_cast<std::size_t>(block)).owned;
    }

    /// Owned cells and halo of a block; an array for it has these extents, in global coordinates.
    Box extended(int block = 0) const {
        return grow(blocks_.at(static_cast<std::size_t>(block)).held, halo_, dimensions_);
    }

    /// The domain of the points of a staggered field: the same communicator, process grid and cuts.
    /// Point i is the lower face of cell i and belongs to its block; the last point belongs to the
    /// last block of its row, and is point 0 where it is periodic. Every block holds the point
    /// behind its last cell: its own, or the next block's first one, a ghost. Upper points (−1) are
    /// as many as cells, each in the block of its cell. Local. Throws Error for other values, and
    /// where the domain is staggered already.
    CartesianDomain staggered(const Stagger& stagger) const;

    /// The rank, and its block, at `position` in the grid of blocks; rank −1 where it is land.
    /// Local, O(1).
    struct Place {
        int rank;
        int block;
    };
    /// As Place says.
    Place place_of(const std::array<int, max_dimensions>& position) const;

private:
    void tell(Properties& told) const;
    void find_blocks();

    int dimensions_;
    std::array<Axis, max_dimensions> axes_;
    HaloWidth halo_;
    Stagger stagger_;
    Boundary boundary_;
    Neighbors neighbors_;
    Algorithm algorithm_;
    Communicator comm_;
    std::vector<Seam> seams_;
    int tile_axis_ = CartesianOptions::no_tiles;
    RankFill fill_ = RankFill::last_fastest;
    WetPlaces wet_;
    std::vector<int> rank_at_, place_of_;  ///< a table of ranks and its inverse; empty: `fill_`
    std::vector<Block> blocks_;
};

/// The process grid with the least halo surface; among equals the one that cuts the slowest
/// dimension most. Local.
std::vector<int> choose_process_grid(int ranks, const std::vector<global_index>& extents,
                                     const HaloWidth& halo);

/// With land: as many places with a wet cell as ranks. Local. Throws Error, which names the nearest
/// numbers of ranks, where there is none.
std::vector<int> choose_process_grid(int ranks, const std::vector<global_index>& extents,
                                     const HaloWidth& halo, const Mask& mask);

}  // namespace parhelion

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

/// Which neighbors give ghosts: those across faces (2·d), or also across edges and corners (3^d −
/// 1).
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
/// the rank at that end owns as many of them as the field's depth, so that they travel, too: to its
/// neighbors along the other dimensions, and as ghosts of those behind it.
enum class Boundary : std::uint8_t { open, owned };

/// Which end of an axis.
enum class Side : std::uint8_t { lower, upper };

/// Where the line lies about which a fold mirrors. Corner: between the last row of cells and the
/// ghosts (NEMO's F pivot). Center: through the centers of the last row (NEMO's T pivot), whose
/// cells are points that two cells hold; both have the value of the one with the smaller index
/// after an exchange.
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
/// and the other way. The other axes go on as those that `axes` names, backward where `backward`
/// has their bit.
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

/// How ranks fill the process grid where no table says it. of_communicator: as MPI_Cart_create has
/// numbered them, with the grid and the periodicity that the Cartesian communicator has.
enum class RankFill : std::uint8_t { last_fastest, first_fastest, of_communicator };

/// Which rank is where in the process grid: a rule, or a table with the rank at each place, places
/// counted with the last dimension fastest, without those that a mask leaves out.
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
    /// Land: places of the process grid without a wet cell get no rank, and the others are as many
    /// as there are ranks. Given on every rank, asked on rank 0 alone, and not kept. `mask_of`
    /// makes it from values of cells.
    Mask mask = {};
};

/// How one dimension is cut: `starts[b] ≤ x < starts[b+1]` are the cells, or where it is staggered
/// the points, of block b along it.
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
/// Construction is collective over `comm` (one reduction). Every rank passes the same arguments; a
/// difference is reported on every rank. Ranks fill the process grid with the last dimension
/// fastest, or as `rank_order` says. Extents that do not divide give the first ranks one cell more;
/// a rank may own nothing, and a halo may be wider than the neighbor's block. Errors (on every
/// rank): no or more than 4 dimensions, negative extents or widths, a process grid whose product is
/// not the number of ranks, splits that do not add up, lists of another length than there are
/// dimensions, a table of ranks that does not name each rank once, a communicator without the
/// topology that is to be taken from it; seams of sides that are periodic, joined twice, of
/// different numbers of cells, or of an axis not longer than the halo (folded on both sides: than
/// both halos), and seams with an owned boundary or with the staged algorithm; a mask with the
/// staged algorithm, or with another number of wet places than ranks. With a mask construction
/// takes one reduction and a broadcast more.
///
///     parhelion::CartesianDomain domain{{768, 768, 768}, {.halo = 2, .periodic = true}, comm};
class CartesianDomain {
public:
    CartesianDomain(std::vector<global_index> extents, CartesianOptions options = {},
                    Communicator comm = MPI_COMM_WORLD);

    int dimensions() const { return dimensions_; }
    /// How dimension `d` is cut.
    const Axis& axis(int d) const { return axes_[d]; }
    std::vector<global_index> extents() const;
    std::vector<int> process_grid() const;
    /// Place of this rank, or of any other, in the process grid. Local.
    std::vector<int> coordinates() const { return coordinates_of(comm_.rank()); }
    std::vector<int> coordinates_of(int rank) const;
    /// What it was made with.
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

    /// The domain of the points of a staggered field, with the same communicator, process grid and
    /// cuts. The lower face of cell i is point i and belongs to the cell's block; the last point
    /// belongs to the last block of its row, and is point 0 where it is periodic. Every block holds
    /// the point behind its last cell: its own, or the next block's first one, a ghost that an
    /// exchange overwrites. Upper points (−1) are as many as cells, each in the block of its cell.
    /// Local. Throws Error for other values, and where the domain is staggered already.
    CartesianDomain staggered(const Stagger& stagger) const;

    /// Rank and block number on it that hold the block at `position` in the grid of blocks; rank −1
    /// where it is land. Local, O(1).
    struct Place {
        int rank;
        int block;
    };
    /// See Place. Local, O(1).
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

/// With land: the one with the least halo of `grids_with_land` in which as many places have a wet
/// cell as there are ranks. Local. Throws Error, which names the nearest numbers of ranks, where
/// there is none.
std::vector<int> choose_process_grid(int ranks, const std::vector<global_index>& extents,
                                     const HaloWidth& halo, const Mask& mask);

}  // namespace parhelion

// Structured grids, distributed over a process grid.
#pragma once

#include <span>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/mask.hpp"

namespace parhelion {

class Properties;

/// Ghosts across faces only, or also across edges and corners.
enum class Neighbors : std::uint8_t { full, faces };

/// by_dimension: 2·d messages, as neighbors forward corners (needs Neighbors::full).
enum class Algorithm : std::uint8_t { standard, by_dimension };

/// One flag for all dimensions, or one per dimension.
struct Periodicity {
  std::array<bool, max_dimensions> along{};
  int listed = 0;  ///< length of the list; 0: one value for all
  Periodicity() = default;
  Periodicity(bool everywhere) { along.fill(everywhere); }  // NOLINT: allows `.periodic = true`
  Periodicity(std::initializer_list<bool> per_dimension)
      : listed(fill_per_dimension(along, per_dimension)) {}
};

/// Array layers beyond a non-periodic end. Owned: the rank there owns as many as the field's depth;
/// its neighbors receive them as ghosts.
enum class Boundary : std::uint8_t { open, owned };

/// End of an axis.
enum class Side : std::uint8_t { lower, upper };

/// Mirror line of a fold. Corner: behind the last row of cells (NEMO's F pivot). Center: through
/// its centers (T pivot), where two cells coincide: an exchange gives both the value of the one
/// with the smaller index.
enum class Pivot : std::uint8_t { corner, center };

/// A side of the grid, or of one of its tiles.
struct TileSide {
  static constexpr int every_tile = -1;
  int axis = 0;
  Side side = Side::upper;
  int tile = every_tile;  ///< if the grid has tiles
  friend bool operator==(const TileSide&, const TileSide&) = default;
};

/// Joins two sides, or one to itself: a path that leaves the grid through one re-enters it through
/// the other. `axes` maps the other axes; `backward` reverses some.
///
///     Seam{{0, Side::lower}, {0, Side::upper}, {}, 0b10}        a Möbius strip: reverses axis 1
struct Seam {
  TileSide from, to;
  std::vector<int> axes = {};  ///< axis of `to` for each of `from`; empty: the sides' axes swap
  std::uint8_t backward = 0;   ///< bit d: reverses axis d of `from`
  Pivot pivot = Pivot::corner;
  friend bool operator==(const Seam&, const Seam&) = default;
};

/// A side joined to itself by a mirror, as the north of a tripolar ocean grid. With n cells along
/// `mirrored` and m along `axis`, folded at its upper side, ghost (i, m − 1 + k) holds
///
///     corner: cell (n − 1 − i, m − k)        center: cell ((n − i) mod n, m − 1 − k)
///
/// Staggered points use the same mirror line.
Seam fold(int axis, Side side, Pivot pivot, int mirrored);
/// Mirrors the axis before the folded one; for axis 0, axis 1.
Seam fold(int axis = 1, Side side = Side::upper, Pivot pivot = Pivot::corner);

/// The seams of a cube with tiles 0 to 5 as faces, n × n cells along `first_axis` and the next.
/// Faces 0 to 3 follow each other along the first axis. Along the second, face 4 is at their upper
/// sides and continues face 0; face 5 is at their lower sides.
std::vector<Seam> cube_seams(int first_axis = 1);

/// How ranks fill the process grid. of_communicator: as MPI_Cart_create numbered them, with its
/// grid and periodicity.
enum class RankFill : std::uint8_t { last_fastest, first_fastest, of_communicator };

/// A rule, or a table of the rank at each place of the process grid, in the order of `fill` and
/// without places that a mask excludes. In a table, a rank may have several places, whose blocks it
/// owns in this order; −1: land.
///
///     .rank_order = RankFill::first_fastest        .rank_order = {0, 2, -1, 0, 1, 3}
struct RankOrder {
  RankFill fill = RankFill::last_fastest;
  std::vector<int> ranks = {};                                       ///< the table, if not empty
  RankOrder(RankFill rule = RankFill::last_fastest) : fill(rule) {}  // NOLINT: implicit on purpose
  RankOrder(std::vector<int> table) : ranks(std::move(table)) {}     // NOLINT
  RankOrder(std::initializer_list<int> table) : ranks(table) {}
};

/// Decomposition and ghosts of a grid.
struct CartesianOptions {
  HaloWidth halo = 1;
  Periodicity periodic = false;
  std::vector<int> process_grid = {};  ///< ranks per dimension; empty: choose_process_grid
  std::vector<std::vector<global_index>> splits =
      {};  ///< cells per process coordinate, by dimension; empty: even
  std::vector<int> blocks_per_rank = {};  ///< per dimension; empty: one
  Neighbors neighbors = Neighbors::full;
  Algorithm algorithm = Algorithm::standard;
  RankOrder rank_order = {};
  Boundary boundary = Boundary::open;
  std::vector<Seam> seams = {};  ///< at most one per side
  int tile_axis = no_tiles;  ///< index of the tile: separate grids, joined only by seams; no halo,
                             ///< not periodic
  static constexpr int no_tiles = -1;
  /// Land mask (`mask_of`): places of the process grid without a wet cell get no rank; each other
  /// place needs one. Given on every rank, evaluated during construction on rank 0 only.
  Mask mask = {};
};

/// Partition of one dimension: block b has the cells, or points, `starts[b] ≤ x < starts[b+1]`.
struct Axis {
  global_index extent = 1;  ///< in cells, or in points: one more unless periodic
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
  Box held;   ///< array without halo: `owned`, and the first points of the next block
  std::array<int, max_dimensions> position{};  ///< in the grid of all blocks
};

/// Ownership of the cells of a structured grid of 1 to 4 dimensions.
///
/// Construction is collective over `comm` (one reduction; a mask adds one and a broadcast). The
/// first ranks own the remainder of an extent. A rank may own nothing, and a halo may be wider than
/// the neighbor's block. Errors (on every rank): arguments that differ between ranks; 0 or more
/// than 4 dimensions; negative extents or widths; lists of wrong length; a process grid whose
/// product is not the number of ranks (or places in a table); splits with a wrong sum; a table
/// without one of the ranks; RankFill::of_communicator without a Cartesian topology; seams of
/// periodic sides, two on a side, of sides of different sizes, or of an axis not longer than the
/// halo (if both sides are folded: than both halos); seams or land with the algorithm by_dimension;
/// seams with an owned boundary; a mask with another number of wet places than ranks.
///
///     parhelion::CartesianDomain domain{{768, 768, 768}, {.halo = 2, .periodic = true}, comm};
class CartesianDomain {
 public:
  CartesianDomain(std::vector<global_index> extents, CartesianOptions options = {},
      Communicator comm = MPI_COMM_WORLD);

  int dimensions() const { return dimensions_; }
  /// Partition of dimension `d`.
  const Axis& axis(int d) const { return axes_[d]; }
  std::vector<global_index> extents() const;
  std::vector<int> process_grid() const;
  /// Coordinates of this or any rank's (first) place in the process grid. Local.
  std::vector<int> coordinates() const { return coordinates_of(comm_.rank()); }
  std::vector<int> coordinates_of(int rank) const;
  const HaloWidth& halo() const { return halo_; }
  const Stagger& stagger() const { return stagger_; }
  Boundary boundary() const { return boundary_; }
  Neighbors neighbors() const { return neighbors_; }
  Algorithm algorithm() const { return algorithm_; }
  /// With explicit axes, one per tile.
  const std::vector<Seam>& seams() const { return seams_; }
  int tile_axis() const { return tile_axis_; }
  /// Empty without a mask.
  const WetPlaces& wet_places() const { return wet_; }
  const Communicator& communicator() const { return comm_; }

  /// Blocks of this rank, at each place with the last dimension fastest: the block numbers of
  /// fields.
  const std::vector<Block>& blocks() const { return blocks_; }
  std::vector<Block> blocks_of(int rank) const;
  const Box& owned(int block = 0) const { return blocks_.at(block).owned; }

  /// A block with its halo, the extent of its array, in global coordinates.
  Box extended(int block = 0) const { return grow(blocks_.at(block).held, halo_, dimensions_); }

  /// The domain of the points of a staggered field, with the same communicator, process grid and
  /// cuts. A point belongs to the block of its cell; the last point to the last block, or it is
  /// point 0 of a periodic dimension. With stagger 1 every block also holds the point behind its
  /// last cell. Local. Throws Error for other values, or if the domain is already staggered.
  CartesianDomain staggered(const Stagger& stagger) const;

  /// Owner of a block; rank −1: land.
  struct Place {
    int rank;
    int block;
  };
  /// Owner of the block at `position` in the grid of blocks. Local, O(1).
  Place place_of(const std::array<int, max_dimensions>& position) const;

 private:
  void tell(Properties& told) const;
  std::vector<int> coordinates_at(int place) const;
  std::span<const int> held_by(const int& rank) const;

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
  std::vector<int> rank_at_, places_;  ///< table, its places by rank; empty: `fill_`
  std::vector<Block> blocks_;
};

/// The process grid with the smallest halo; on a tie, the one that cuts the slowest dimension most.
/// Local.
std::vector<int> choose_process_grid(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo);

/// The same with as many wet places as ranks. Local. Throws Error, which names the nearest feasible
/// numbers of ranks, if there is none.
std::vector<int> choose_process_grid(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo, const Mask& mask);

}  // namespace parhelion

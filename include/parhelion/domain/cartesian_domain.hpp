// A structured grid of cells, split over a process grid.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/box.hpp"

namespace parhelion {

/// Which neighbors give ghosts: those across faces (2·d), or also across edges and corners (3^d − 1).
enum class Neighbors : std::uint8_t { full, faces };

/// Standard: one message to every neighbor. Staged: dimension after dimension, corners travel through
/// neighbors, 2·d messages (needs Neighbors::full).
enum class Algorithm : std::uint8_t { standard, staged };

/// One flag, in braces or not, is for all dimensions; a list has one for each.
struct Periodicity {
    std::array<bool, max_dimensions> along{};
    int listed = 0;  ///< dimensions that a list named; 0: all
    Periodicity() = default;
    Periodicity(bool everywhere) { along.fill(everywhere); }  // NOLINT: `.periodic = true`
    Periodicity(std::initializer_list<bool> per_dimension) : listed(fill_per_dimension(along, per_dimension)) {}
};

/// How a grid is split, and which ghosts are wanted.
struct CartesianOptions {
    HaloWidth halo = 1;
    Periodicity periodic = false;
    std::vector<int> process_grid = {};                    ///< ranks per dimension; empty: chosen for the least halo
    std::vector<std::vector<global_index>> splits = {};    ///< per dimension, cells of each process coordinate; empty: even
    std::vector<int> blocks_per_rank = {};                 ///< blocks per dimension on each rank; empty: one
    Neighbors neighbors = Neighbors::full;
    Algorithm algorithm = Algorithm::standard;
};

/// How one dimension is cut: `starts[b] ≤ x < starts[b+1]` are the cells of block b along it.
struct Axis {
    global_index extent = 1;
    int ranks = 1;
    int blocks_per_rank = 1;
    bool periodic = false;
    int lower = 0, upper = 0;
    std::vector<global_index> starts{0, 1};

    int blocks() const { return ranks * blocks_per_rank; }
};

/// A block of cells that this rank owns.
struct Block {
    Box owned;                                 ///< global coordinates; may be empty
    std::array<int, max_dimensions> position{};///< in the grid of all blocks
};

/// Who owns which cell of a structured grid of 1 to 4 dimensions.
///
/// Construction is collective over `comm` (one reduction). Every rank passes the same arguments; a difference is
/// reported on every rank. Ranks fill the process grid with the last dimension fastest. Extents that do not divide
/// give the first ranks one cell more; a rank may own nothing, and a halo may be wider than the neighbor's block.
/// Errors (on every rank): no or more than 4 dimensions, negative extents or widths, a process grid whose product is
/// not the number of ranks, splits that do not add up, lists of another length than there are dimensions.
///
///     parhelion::CartesianDomain domain{{768, 768, 768}, {.halo = 2, .periodic = true}, comm};
class CartesianDomain {
public:
    CartesianDomain(std::vector<global_index> extents, CartesianOptions options = {}, Communicator comm = MPI_COMM_WORLD);

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
    Neighbors neighbors() const { return neighbors_; }
    Algorithm algorithm() const { return algorithm_; }
    const Communicator& communicator() const { return comm_; }

    /// Blocks of this rank, last dimension fastest; their index is the block number of a field.
    const std::vector<Block>& blocks() const { return blocks_; }
    const Box& owned(int block = 0) const { return blocks_.at(static_cast<std::size_t>(block)).owned; }

    /// Owned cells and halo of a block; an array for it has these extents, in global coordinates.
    Box extended(int block = 0) const { return grow(owned(block), halo_, dimensions_); }

    /// Rank and block number on it that hold the block at `position` in the grid of blocks. Local, O(1).
    struct Place { int rank; int block; };
    /// See Place. Local, O(1).
    Place place_of(const std::array<int, max_dimensions>& position) const;

private:
    int dimensions_;
    std::array<Axis, max_dimensions> axes_;
    HaloWidth halo_;
    Neighbors neighbors_;
    Algorithm algorithm_;
    Communicator comm_;
    std::vector<Block> blocks_;
};

/// The process grid with the least halo surface; among equals the one that cuts the slowest dimension most. Local.
std::vector<int> choose_process_grid(int ranks, const std::vector<global_index>& extents, const HaloWidth& halo);

}  // namespace parhelion

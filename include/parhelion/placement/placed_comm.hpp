// A communicator reordered according to a placement.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// How ranks lie on the machine.
struct Discovered {
  Machine machine;
  int position = 0;    ///< of this rank in the machine's hierarchical order
  std::string source;  ///< source of the levels
  std::string note;    ///< unusable levels and the reasons; empty if none
};

/// Collective over `comm`. Ranks that share memory form a node, whatever their host names; or, with
/// `node_color` ≥ 0 on every rank, those of equal colors. Inner levels come from Linux' /sys and
/// CPU bindings. A level where some rank is not bound to one unit is left out on every node; the
/// note says so. Memory: O(ranks) during the call, O(nodes) in the result.
Discovered discover(const Communicator& comm, int node_color = -1);

/// Options of PlacedComm; requires `grid`, `cells` or `blocks`.
struct PlacedOptions {
  std::vector<int> grid = {};            ///< ranks per dimension; empty: chosen from `cells`
  std::vector<global_index> cells = {};  ///< global; to choose the grid and weight offsets
  std::vector<bool> periodic = {};       ///< per dimension, or one for all; empty: not periodic
  Stencil stencil = {};                  ///< empty: faces
  int halo = 1;                          ///< cells, for the bytes of an offset
  int bytes_per_cell = 8;
  Objective objective = Objective::jsum;
  std::map<std::string, std::vector<int>> blocks =
      {};                      ///< by hand, level by level; `grid` and `cells` are then not needed
  std::string numbering = {};  ///< "XYZ", …; empty: last dimension fastest
  int node_color = -1;         ///< see discover
  std::optional<ExchangeCosts> costs = {};  ///< see Request; requires `cells`
};

/// A Cartesian communicator with its placement.
///
/// Construction is collective over `parent`, with equal options except `node_color`. Rank 0
/// computes the placement and broadcasts every grid point's position; every rank stores 8 bytes per
/// rank. Copies share the communicator. The destructor is local: after those of all ranks, the next
/// PlacedComm of the same parent, or the parent's MPI_Comm_free, frees the communicator. Throws
/// Error on every rank if options do not match the number of ranks or the machine.
///
///     PlacedComm placed{MPI_COMM_WORLD, {.cells = {768, 768, 768}, .periodic = {true}}};
///     CartesianDomain domain{{768, 768, 768}, {.process_grid = placed.grid()}, placed.comm()};
class PlacedComm {
 public:
  explicit PlacedComm(MPI_Comm parent, const PlacedOptions& options = {});

  /// The reordered communicator; by default numbered as CartesianDomain and MPI_Cart do.
  MPI_Comm comm() const;
  int rank() const;
  int size() const;

  std::vector<int> grid() const;
  /// Place of this or any rank in the grid. Local.
  std::vector<int> coords() const { return coords_of(rank()); }
  std::vector<int> coords_of(int rank) const;
  /// Wraps along periodic dimensions any number of times; MPI_PROC_NULL beyond other ends. Local.
  int rank_of(const std::vector<int>& coords) const;

  /// Collective. An MPI_Cart communicator with the same coordinates for this process; the caller
  /// frees it.
  MPI_Comm to_cart() const;
  /// Collective. Ranks that differ from this one only in the remaining dimensions, in the same
  /// order; the caller frees it. Throws Error for another number of dimensions.
  MPI_Comm sub(const std::vector<bool>& remain) const;

  const Placement& placement() const;
  /// Under the stencil of the options.
  const Scores& scores() const;
  /// Of ranks numbered node after node, last dimension fastest: MPI_Cart_create's order on a
  /// blocked launch.
  const Scores& scores_blocked() const;
  /// Traffic between nodes, of both placements.
  const BetweenNodes& between_nodes() const;
  const BetweenNodes& between_nodes_blocked() const;
  /// For people: the machine, the chosen method, unusable levels.
  std::string describe() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace parhelion::placement

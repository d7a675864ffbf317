// A communicator whose ranks sit on the machine where the placement wants them.
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

/// How ranks really sit on the machine, found out together.
struct Discovered {
    Machine machine;
    int position = 0;    ///< of this rank in the machine's hierarchical order
    std::string source;  ///< where the levels come from
    std::string note;    ///< levels that could not be used and why; empty when all could
};

/// Collective over `comm`. Nodes are the ranks that share memory, not those whose hosts have the
/// same name; levels inside come from Linux' /sys and the processors that each rank is
/// bound to. Levels at which some rank is not bound to one unit are left out, on every node, and
/// the note says so. `node_color` ≥ 0 on every rank overrides shared memory: equal colors are one
/// node. Memory: O(ranks) during the call, O(nodes) in the result.
Discovered discover(const Communicator& comm, int node_color = -1);

/// What is placed; one of `grid`, `cells` and `blocks` is needed.
struct PlacedOptions {
    std::vector<int> grid = {};            ///< ranks per dimension; empty: chosen from `cells`
    std::vector<global_index> cells = {};  ///< global cells, to choose the grid and weigh offsets
    std::vector<bool> periodic = {};       ///< per dimension, or one for all; empty: not periodic
    Stencil stencil = {};                  ///< empty: faces
    int halo = 1;                          ///< cells, for the bytes of an offset
    int bytes_per_cell = 8;
    Objective objective = Objective::jsum;
    std::map<std::string, std::vector<int>> blocks =
        {};  ///< by hand, level by level; then `grid` and `cells` are not needed
    std::string numbering = {};  ///< "XYZ", …; empty: last dimension fastest
    int node_color = -1;         ///< see discover
    std::optional<ExchangeCosts> costs =
        {};  ///< see Request; needs `cells`, since halos are of cells
};

/// A Cartesian communicator that keeps its placement.
///
/// Construction is collective over `parent`; every rank passes the same options, except
/// `node_color`. Rank 0 plans and sends the position of every grid point; every rank keeps them: 8
/// bytes for each rank of the communicator. Copies share the communicator. Destructors communicate
/// nothing: when all ranks have dropped theirs, the next PlacedComm of the same parent frees it, at
/// the latest the parent's own MPI_Comm_free does. Rank ↔ coordinates is arithmetic, for any rank.
/// Errors (on every rank): options that do not fit the number of ranks or the machine.
///
///     PlacedComm placed{MPI_COMM_WORLD, {.cells = {768, 768, 768}, .periodic = {true}}};
///     CartesianDomain domain{{768, 768, 768}, {.process_grid = placed.grid()}, placed.comm()};
class PlacedComm {
public:
    explicit PlacedComm(MPI_Comm parent, const PlacedOptions& options = {});

    /// The reordered communicator. With the default numbering its ranks are those that
    /// CartesianDomain and MPI_Cart expect.
    MPI_Comm comm() const;
    int rank() const;
    int size() const;

    std::vector<int> grid() const;
    /// Place of this rank, or of any other, in the process grid. Local.
    std::vector<int> coords() const { return coords_of(rank()); }
    std::vector<int> coords_of(int rank) const;
    /// Coordinates wrap along periodic dimensions, any number of times; MPI_PROC_NULL where the
    /// grid ends.
    int rank_of(const std::vector<int>& coords) const;

    /// Collective. An MPI_Cart communicator in which this process has the same coordinates; the
    /// caller frees it.
    MPI_Comm to_cart() const;
    /// Collective. Ranks that differ from this one only in the dimensions that remain, numbered as
    /// here; the caller frees it. Errors: another number of dimensions.
    MPI_Comm sub(const std::vector<bool>& remain) const;

    const Placement& placement() const;
    /// Under the stencil that the placement was made for.
    const Scores& scores() const;
    /// Of ranks numbered node after node, last dimension fastest: what MPI_Cart_create gives on a
    /// blocked launch.
    const Scores& scores_blocked() const;
    /// Messages and bytes between nodes, rank by rank and collected; of both placements.
    const BetweenNodes& between_nodes() const;
    const BetweenNodes& between_nodes_blocked() const;
    /// For people: the machine, what was chosen, what could not be used.
    std::string describe() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

}  // namespace parhelion::placement

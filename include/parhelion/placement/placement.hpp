// Placement of a process grid on a machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/placement/between_nodes.hpp"
#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/process_grid.hpp"
#include "parhelion/placement/score.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// Quantity to minimize: bytes leaving all units of a level (jsum), or its busiest unit (jmax).
enum class Objective : std::uint8_t { jsum, jmax };

/// A bijection between grid points and a machine's ranks, as tables in both directions. Immutable.
class Placement {
 public:
  /// `positions` of the points, last dimension fastest; `moved`: points that local search moved.
  /// Throws Error unless it is a bijection.
  Placement(ProcessGrid grid, Machine machine, std::vector<int> positions, int moved = 0);

  const ProcessGrid& grid() const { return grid_; }
  const Machine& machine() const { return machine_; }
  const std::vector<int>& positions() const { return positions_; }

  /// Position in the machine's hierarchical order of the rank at `point`, and the inverse.
  int position(const Coords& point) const { return positions_[index_of(grid_.extent, point)]; }
  Coords point(int position) const { return point_of(grid_.extent, points_[position]); }

  /// Node, or unit of a level, of the rank at a point, numbered over the whole machine.
  int node(const Coords& point) const { return machine_.node_of(position(point)); }
  int unit(int level, const Coords& point) const {
    return machine_.unit_of(level, position(point));
  }
  int moved_points() const { return moved_; }

  /// Traffic that leaves the units of each level under a stencil.
  Scores scores(const Stencil& stencil) const;
  /// Traffic between nodes. O(grid points).
  std::vector<NodePair> node_pairs(const Stencil& stencil) const;

 private:
  ProcessGrid grid_;
  Machine machine_;
  std::vector<int> positions_, points_;
  int moved_;
};

/// A member of the portfolio: scores, or the reason why it does not apply.
struct Member {
  std::string name;
  Scores scores;
  std::string reason;  ///< empty if it applies
  double seconds = 0;  ///< predicted, if the request has costs

  bool applies() const { return reason.empty(); }
};

/// The chosen placement, and all candidates.
struct AutomaticPlacement {
  Placement placement;
  Scores scores;
  std::string chosen;  ///< the initial member, with " + refined" if local search improved it
  std::vector<Member> members;  ///< blocked first
  std::string note;             ///< steps left out and the reasons; empty if none
  double seconds = 0;           ///< predicted, if the request has costs
};

/// Input of `place`.
struct Request {
  ProcessGrid grid;
  Stencil stencil;
  Objective objective = Objective::jsum;
  bool refine = true;
  std::string method = {};  ///< a member's name, to use it unchanged; empty: automatic
  std::optional<ExchangeCosts> costs = {};  ///< minimize predicted time, with messages between
                                            ///< nodes aggregated; the objective breaks ties
};

/// Tries the whole portfolio and improves the best members by local search: never worse than any
/// member. Compares scores level by level from the node inwards, in bytes. Local and deterministic:
/// equal on every rank. The note says if the grid exceeds `refined_points` and is not refined. With
/// costs, local search tries both objectives, and the fastest result wins. Throws Error if grid and
/// machine differ in size; for an unknown or inapplicable method; for costs with a stencil that
/// does not specify the cells.
AutomaticPlacement place(const Request& request, const Machine& machine);

/// Local search skips larger grids.
inline constexpr int refined_points = 1 << 15;

/// The objective's value, level by level from the node inwards. Compare with <.
std::vector<std::int64_t> objective_key(const Scores& scores, Objective objective);

/// Places level by level as published for hwcart: blocks arrange each level's units inside the
/// enclosing unit, e.g. {{"node", {16, 8, 8}}, {"socket", {1, 2, 1}}, {"core", {4, 1, 1}}}. The
/// process grid is their product. `numbering` orders the units. Skips unnamed levels. Throws Error
/// for: no blocks for nodes, unknown levels, a product that does not match the machine.
Placement place_by_hand(const Machine& machine,
    const std::map<std::string, std::vector<int>>& blocks, const std::vector<bool>& periodic = {},
    const std::string& numbering = "");

/// A process grid for the machine's ranks over a grid of cells.
struct GridChoice {
  ProcessGrid grid;
  Stencil stencil;  ///< with halo bytes for that grid
};
/// Of the six grids with the least halo per rank, that with the fewest bytes between nodes, then in
/// total. `halo` in cells, `bytes_per_cell` of all fields. Throws Error for extents below 1, or not
/// 1 to 4 of them.
GridChoice choose_grid(const Machine& machine, const std::vector<std::int64_t>& cells,
    const Stencil& stencil, int halo, int bytes_per_cell, const std::vector<bool>& periodic,
    Objective objective);

}  // namespace parhelion::placement

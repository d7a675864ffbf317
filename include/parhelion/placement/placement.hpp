// Puts the process grid onto the machine.
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

/// What is made small: the bytes that leave all units of a level, or those that leave the unit that
/// most leave.
enum class Objective : std::uint8_t { jsum, jmax };

/// A bijection between grid points and the ranks of a machine: a table both ways, with the machine.
/// Immutable.
class Placement {
public:
    /// `positions` of the grid's points in the machine's hierarchical order, the last dimension
    /// fastest; how many of them local search `moved`. Errors: another number of points than the
    /// machine has ranks, no bijection.
    Placement(ProcessGrid grid, Machine machine, std::vector<int> positions, int moved = 0);

    const ProcessGrid& grid() const { return grid_; }
    const Machine& machine() const { return machine_; }
    const std::vector<int>& positions() const { return positions_; }

    /// Place in the machine's hierarchical order of the rank at `point`, and back.
    int position(const Coords& point) const { return positions_[index_of(grid_.extent, point)]; }
    Coords point(int position) const { return point_of(grid_.extent, points_[position]); }

    /// Node, or unit of a level, of the rank at a point, counted over the whole machine.
    int node(const Coords& point) const { return machine_.node_of(position(point)); }
    int unit(int level, const Coords& point) const {
        return machine_.unit_of(level, position(point));
    }
    int moved_points() const { return moved_; }

    /// What leaves the units of each level under a stencil.
    Scores scores(const Stencil& stencil) const;
    /// What goes from node to node, rank by rank and collected. Looks at every grid point.
    std::vector<NodePair> node_pairs(const Stencil& stencil) const;

private:
    ProcessGrid grid_;
    Machine machine_;
    std::vector<int> positions_, points_;
    int moved_;
};

/// A member of the portfolio: its scores, or why it does not apply.
struct Member {
    std::string name;
    Scores scores;
    std::string reason;  ///< empty when it applies
    double seconds = 0;  ///< predicted, where the request has costs

    bool applies() const { return reason.empty(); }
};

/// The placement that was chosen, and what was looked at.
struct AutomaticPlacement {
    Placement placement;
    Scores scores;
    std::string
        chosen;  ///< the member it starts from; with " + refined" when local search improved it
    std::vector<Member> members;  ///< all of them, blocked first
    std::string note;             ///< what was left out and why; empty when nothing was
    double seconds = 0;           ///< predicted, where the request has costs
};

/// What is to be placed, and how.
struct Request {
    ProcessGrid grid;
    Stencil stencil;
    Objective objective = Objective::jsum;
    bool refine = true;
    std::string method = {};  ///< a member's name, to take that one as it is; empty: automatic
    std::optional<ExchangeCosts> costs =
        {};  ///< make the time that these predict small, with messages between nodes collected; the
             ///< objective decides between equals
};

/// Tries the whole portfolio and improves the best by local search: never worse than any member.
/// Scores are compared level by level from the node inwards, in bytes, which are edges unless the
/// stencil says otherwise. Local and deterministic: every rank that calls it gets the same. Grids
/// of more than `refined_points` points are not refined, because that takes long; then the note
/// says so. With costs, local search makes now one, now the other objective small, and what takes
/// least time is kept.
/// Errors: the grid's size is not the machine's number of ranks; an unknown method, or one that
/// does not apply here; costs, and a stencil that does not tell which cells travel.
AutomaticPlacement place(const Request& request, const Machine& machine);

/// Larger grids are not improved by local search.
inline constexpr int refined_points = 1 << 15;

/// The value that the objective makes small: level by level from the node inwards. Compare with <.
std::vector<std::int64_t> objective_key(const Scores& scores, Objective objective);

/// Level by level as published for hwcart: each level's blocks say how the units of that level are
/// arranged inside the unit around them, e.g. {{"node", {16, 8, 8}}, {"socket", {1, 2, 1}},
/// {"core", {4, 1, 1}}}. The process grid is their product. Units are numbered as `numbering` says.
/// Levels of the machine that are not named are passed over. Errors: no blocks for nodes, unknown
/// levels, blocks whose product is not what the machine has there.
Placement place_by_hand(const Machine& machine,
                        const std::map<std::string, std::vector<int>>& blocks,
                        const std::vector<bool>& periodic = {}, const std::string& numbering = "");

/// A process grid for that many ranks over a grid of cells: the one with the fewest bytes across
/// node boundaries, then in total, among the `tried` with the least halo per rank. Errors: extents
/// below 1, no or more than 4 of them.
struct GridChoice {
    ProcessGrid grid;
    Stencil stencil;  ///< with halo bytes for that grid
};
/// See GridChoice. `halo` in cells, `bytes_per_cell` of all fields together.
GridChoice choose_grid(const Machine& machine, const std::vector<std::int64_t>& cells,
                       const Stencil& stencil, int halo, int bytes_per_cell,
                       const std::vector<bool>& periodic, Objective objective, int tried = 6);

}  // namespace parhelion::placement

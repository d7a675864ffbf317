#include "parhelion/placement/placement.hpp"

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::placement {

void check_ranks(const ProcessGrid& grid, const Machine& machine) {
    if (grid.size() != machine.size())
        throw Error(concat("the process grid has ", grid.size(), " points but the machine ",
                           machine.size(),
                           " ranks: make the product of the grid's extents equal to the ranks"));
}

Placement::Placement(ProcessGrid grid, Machine machine, std::vector<int> positions, int moved)
    : grid_(grid), machine_(std::move(machine)), positions_(std::move(positions)),
      points_(positions_.size(), -1), moved_(moved) {
    check_ranks(grid_, machine_);
    if (static_cast<int>(positions_.size()) != grid_.size())
        throw Error(
            concat("positions are given for ", positions_.size(), " of ", grid_.size(), " points"));
    for (int point = 0; point < grid_.size(); ++point) {
        const int position = positions_[point];
        if (position < 0 || position >= grid_.size() || points_[position] >= 0)
            throw Error(concat("position ", position, " is not given to exactly one point"));
        points_[position] = point;
    }
}

Scores Placement::scores(const Stencil& stencil) const {
    check_bytes(grid_, stencil);
    return score(grid_, stencil, machine_, positions_);
}

std::vector<NodePair> Placement::node_pairs(const Stencil& stencil) const {
    return placement::node_pairs(grid_, stencil, nodes_of(machine_, positions_));
}

}  // namespace parhelion::placement

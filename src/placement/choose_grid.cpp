#include <algorithm>

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {
namespace {

// All ordered factorisations of `ranks` with each factor at most the cells of its dimension.
void factorise(int ranks, const std::vector<std::int64_t>& cells, std::vector<int>& grid,
               std::vector<std::vector<int>>& found) {
    const std::size_t d = grid.size();
    if (d + 1 == cells.size()) {
        if (ranks > cells[d]) return;
        grid.push_back(ranks);
        found.push_back(grid);
        grid.pop_back();
        return;
    }
    for (int along = 1; along <= ranks && along <= cells[d]; ++along) {
        if (ranks % along != 0) continue;
        grid.push_back(along);
        factorise(ranks / along, cells, grid, found);
        grid.pop_back();
    }
}

std::vector<std::int64_t> largest_block(const std::vector<int>& grid,
                                        const std::vector<std::int64_t>& cells) {
    std::vector<std::int64_t> block;
    for (std::size_t d = 0; d < grid.size(); ++d)
        block.push_back((cells[d] + grid[d] - 1) / grid[d]);
    return block;
}

// Bytes that one rank sends; none across a non-periodic dimension with one process.
std::int64_t halo_per_rank(const GridChoice& choice) {
    std::int64_t bytes = 0;
    for (const auto& offset : choice.stencil.offsets) {
        bool leaves = true;
        for (int d = 0; d < max_dimensions; ++d)
            leaves = leaves &&
                     (offset.step[d] == 0 || choice.grid.extent[d] > 1 || choice.grid.periodic[d]);
        if (leaves) bytes += offset.bytes;
    }
    return bytes;
}

}  // namespace

GridChoice choose_grid(const Machine& machine, const std::vector<std::int64_t>& cells,
                       const Stencil& stencil, int halo, int bytes_per_cell,
                       const std::vector<bool>& periodic, Objective objective, int tried) {
    if (cells.empty() || cells.size() > max_dimensions || std::ranges::min(cells) < 1)
        throw Error("global extents need at least 1 cell in each of 1 to 4 dimensions");
    std::vector<std::vector<int>> grids;
    std::vector<int> grid;
    factorise(machine.size(), cells, grid, grids);
    if (grids.empty())
        throw Error(concat(machine.size(),
                           " ranks do not fit the global extents with at least one cell each: ",
                           "use fewer ranks or give the process grid"));
    std::vector<GridChoice> choices;
    for (const auto& extents : grids)
        choices.push_back(
            {make_grid(extents, periodic),
             with_halo_bytes(stencil, largest_block(extents, cells), halo, bytes_per_cell)});
    for (const auto& choice : choices) check_bytes(choice.grid, choice.stencil);
    std::ranges::stable_sort(choices, {}, halo_per_rank);
    choices.resize(std::min(choices.size(), static_cast<std::size_t>(std::max(tried, 1))));
    return std::ranges::min(choices, {}, [&](const GridChoice& choice) {
        const auto placed = place({choice.grid, choice.stencil, objective, false}, machine);
        return objective_key(placed.scores, objective);
    });
}

}  // namespace parhelion::placement

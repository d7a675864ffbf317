#include <algorithm>

#include "core/concat.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {
namespace {

constexpr std::size_t most_tried = 6;

// Ordered factorisations of `ranks`, each factor at most the cells of its dimension.
std::vector<std::vector<int>> grids_of(int ranks, const std::vector<std::int64_t>& cells) {
  struct Begun {
    std::vector<int> grid;
    int left;
  };
  std::vector<Begun> all{{{}, ranks}};
  for (const std::int64_t& extent : cells) {
    std::vector<Begun> longer;
    for (const auto& [grid, left] : all)
      for (int along = &extent == &cells.back() ? left : 1; along <= left && along <= extent;
          ++along) {
        if (left % along != 0) continue;
        longer.push_back({grid, left / along});
        longer.back().grid.push_back(along);
      }
    all = std::move(longer);
  }
  std::vector<std::vector<int>> grids;
  for (auto& begun : all) grids.push_back(std::move(begun.grid));
  return grids;
}

// None across a non-periodic dimension with one process.
std::int64_t halo_per_rank(const GridChoice& choice) {
  std::int64_t bytes = 0;
  for (const auto& offset : choice.stencil.offsets) {
    bool leaves = true;
    for (int d = 0; d < max_dimensions; ++d)
      leaves =
          leaves && (offset.step[d] == 0 || choice.grid.extent[d] > 1 || choice.grid.periodic[d]);
    if (leaves) bytes += offset.bytes;
  }
  return bytes;
}

}  // namespace

GridChoice choose_grid(const Machine& machine, const std::vector<std::int64_t>& cells,
    const Stencil& stencil, int halo, int bytes_per_cell, const std::vector<bool>& periodic,
    Objective objective) {
  if (cells.empty() || cells.size() > max_dimensions || std::ranges::min(cells) < 1)
    refuse("global extents need at least 1 cell in each of 1 to 4 dimensions");
  std::vector<GridChoice> choices;
  for (const auto& grid : grids_of(machine.size(), cells)) {
    std::vector<std::int64_t> largest_block;
    for (std::size_t d = 0; d < grid.size(); ++d)
      largest_block.push_back((cells[d] + grid[d] - 1) / grid[d]);
    const auto& [made, weighed] = choices.emplace_back(
        make_grid(grid, periodic), with_halo_bytes(stencil, largest_block, halo, bytes_per_cell));
    check_bytes(made, weighed);
  }
  if (choices.empty())
    refuse(machine.size(), " ranks do not fit the global extents with at least one cell each: ",
        "use fewer ranks or give the process grid");
  std::ranges::stable_sort(choices, {}, halo_per_rank);
  choices.resize(std::min(choices.size(), most_tried));
  return std::ranges::min(choices, {}, [&](const GridChoice& choice) {
    const auto placed = place({choice.grid, choice.stencil, objective, false}, machine);
    return objective_key(placed.scores, objective);
  });
}

}  // namespace parhelion::placement

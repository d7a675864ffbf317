// Process grids: search, with land too, and the ranks on them.
#include <cmath>
#include <limits>

#include "core/concat.hpp"
#include "domain/blocks.hpp"

namespace parhelion {
namespace {

constexpr double idle = 1e30;

struct Candidate {
  std::vector<int> grid;
  double halo;
};

struct Search {
  const std::vector<global_index>& extents;
  const HaloWidth& halo;
  std::vector<int> grid;
  std::vector<Candidate> found = {};

  // Halo cells of the largest block, which bounds the slowest rank. Chooses grids with idle ranks
  // only if no other exists.
  double cost() const {
    double total = 0, penalty = 0;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      if (grid[d] > extents[d]) penalty = idle;
      if (grid[d] == 1) continue;
      double face = halo.lower[d] + halo.upper[d];
      for (std::size_t e = 0; e < grid.size(); ++e)
        if (e != d) face *= static_cast<double>((extents[e] + grid[e] - 1) / grid[e]);
      total += face;
    }
    return total + penalty;
  }

  void place(std::size_t d, int ranks) {
    if (d + 1 == grid.size()) {
      grid[d] = ranks;
      found.push_back({grid, cost()});
      return;
    }
    for (int along = ranks; along >= 1; --along) {
      if (ranks % along != 0) continue;
      grid[d] = along;
      place(d + 1, ranks / along);
    }
  }
};

std::vector<Candidate> grids_of(
    int places, const std::vector<global_index>& extents, const HaloWidth& halo) {
  Search search{extents, halo, std::vector<int>(extents.size(), 1)};
  search.place(0, places);
  return search.found;
}

int wet_places_of(
    const std::vector<int>& grid, const std::vector<global_index>& extents, const Mask& mask) {
  Cuts cuts(grid.size(), {0});
  for (std::size_t d = 0; d < grid.size(); ++d) append_even_parts(cuts[d], extents[d], grid[d]);
  return WetPlaces(cuts, RankFill::last_fastest, mask).count();
}

int places_within(double expected) {
  if (expected > most_places) refuse("a process grid with land has more than 2^24 places");
  return static_cast<int>(expected);
}

}  // namespace

std::vector<int> choose_process_grid(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo) {
  return std::ranges::min(grids_of(ranks, extents, halo), {}, &Candidate::halo).grid;
}

std::vector<GridWithLand> grids_with_land(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo, const Mask& mask) {
  if (ranks < 1 || extents.empty() || extents.size() > max_dimensions)
    refuse("a process grid has 1 to 4 dimensions and at least 1 rank");
  double expected = ranks, cells = 1;
  for (const global_index extent : extents) cells *= static_cast<double>(extent);
  for (int guess = 0; guess < 3; ++guess) {
    const int places = places_within(expected);
    const int wet = wet_places_of(choose_process_grid(places, extents, halo), extents, mask);
    if (wet == 0) refuse(no_wet_cell);
    expected = std::min(static_cast<double>(places) * ranks / wet, cells);
  }
  const double around = 8 * std::sqrt(expected);
  std::vector<GridWithLand> grids;
  for (int places = std::max<int>(ranks, expected - around);
      places <= places_within(expected + around); ++places) {
    auto candidates = grids_of(places, extents, halo);
    std::ranges::stable_sort(candidates, {}, &Candidate::halo);
    candidates.resize(std::min<std::size_t>(candidates.size(), 3));
    for (const auto& [grid, ghosts] : candidates)
      if (ghosts < idle)
        grids.push_back(
            {grid, wet_places_of(grid, extents, mask), static_cast<global_index>(ghosts)});
  }
  std::ranges::stable_sort(grids, {}, &GridWithLand::halo);
  return grids;
}

std::vector<int> choose_process_grid(
    int ranks, const std::vector<global_index>& extents, const HaloWidth& halo, const Mask& mask) {
  const GridWithLand *fewer = nullptr, *more = nullptr;
  const auto grids = grids_with_land(ranks, extents, halo, mask);
  for (const GridWithLand& each : grids) {
    if (each.ranks == ranks) return each.grid;
    if (each.ranks < ranks && (fewer == nullptr || each.ranks > fewer->ranks)) fewer = &each;
    if (each.ranks > ranks && (more == nullptr || each.ranks < more->ranks)) more = &each;
  }
  std::string near;
  for (const GridWithLand* each : {fewer, more}) {
    if (each == nullptr) continue;
    near += concat((near.empty() ? "" : " or "), each->ranks, " (process grid ",
        extents_text(each->grid), ")");
  }
  refuse("no process grid was found that has a wet cell at exactly ", ranks, " places: start ",
      (near.empty() ? "fewer ranks" : "another number of ranks, such as " + near));
}

}  // namespace parhelion

#include <algorithm>
#include <cmath>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

// Strips run along `run`; every other dimension d is cut into cuts[d] nearly equal widths.
struct Widths {
  int run;
  Coords cuts;
};

std::vector<int> dimensions_across(const Problem& problem, int run) {
  std::vector<int> across;
  for (int d = 0; d < problem.grid.dimensions; ++d)
    if (d != run) across.push_back(d);
  return across;
}

// Extents of a block of about `ranks` points with the least cut. The surface Σ_d weight_d · ranks /
// b_d under Π b_d = ranks is minimal for b_d proportional to weight_d. Where that exceeds the box,
// the block fills it; other dimensions share the rest.
std::array<double, max_dimensions> ideal_block(
    const Problem& problem, const Coords& box, double ranks) {
  const auto& weight = problem.cut_weight();
  std::array<double, max_dimensions> block{1, 1, 1, 1};
  std::vector<int> open = dimensions_across(problem, -1);
  while (!open.empty()) {
    double product = 1;
    for (const int d : open) product *= weight[d];
    const double scale = std::pow(ranks / product, 1.0 / static_cast<double>(open.size()));
    const auto over =
        std::ranges::find_if(open, [&](int d) { return weight[d] * scale >= box[d]; });
    if (over == open.end()) {
      for (const int d : open) block[d] = std::max(1.0, weight[d] * scale);
      break;
    }
    block[*over] = box[*over];
    ranks /= box[*over];
    open.erase(over);
  }
  return block;
}

// Boustrophedon: an odd slab reverses its inner strips, and the run if the slab before ended at the
// far end, i.e. has an odd number of strips.
Order strips(const Problem& problem, Coords box, const Widths& widths, std::size_t depth = 0) {
  auto across = dimensions_across(problem, widths.run);
  if (depth == across.size()) {
    std::ranges::stable_sort(across, {}, [&](int d) { return box[d]; });
    across.push_back(widths.run);
    return path(box, across, true);
  }
  const int d = across[depth];
  unsigned turn = 0;
  int inner = 1;
  for (std::size_t i = depth + 1; i < across.size(); ++i)
    turn |= 1u << across[i], inner *= widths.cuts[across[i]];
  if (inner % 2 == 1) turn |= 1u << widths.run;
  const int n = widths.cuts[d], wide = box[d] % n;
  Coords part = box;
  part[d] = box[d] / n;
  const Order thin = strips(problem, part, widths, depth + 1);
  ++part[d];
  const Order thick = wide > 0 ? strips(problem, part, widths, depth + 1) : Order{};
  std::vector<Slab> slabs;
  for (int i = 0; i < n; ++i)
    slabs.push_back({box[d] / n + (i < wide), i < wide ? thick : thin, i % 2 == 1 ? turn : 0});
  return slab_after_slab(box, d, slabs);
}

std::vector<int> candidate_cuts(int extent, double ideal_width, bool few) {
  const int low = static_cast<int>(std::floor(extent / ideal_width));
  std::vector<int> candidates;
  for (int c = few ? low : low - 1; c <= (few ? low + 1 : low + 2); ++c)
    if (c >= 1 && c <= extent) candidates.push_back(c);
  if (candidates.empty()) candidates.push_back(std::clamp(low, 1, extent));
  return candidates;
}

std::vector<Widths> candidates(
    const Problem& problem, const Coords& box, double ranks_per_part, bool few) {
  std::vector<Widths> found;
  const auto ideal = ideal_block(problem, box, ranks_per_part);
  for (int run = 0; run < problem.grid.dimensions; ++run) {
    if (box[run] == 1 && volume(box) > 1) continue;
    std::vector<Widths> chosen{{run, {1, 1, 1, 1}}};
    for (const int d : dimensions_across(problem, run)) {
      std::vector<Widths> longer;
      for (const auto& widths : chosen)
        for (const int cuts : candidate_cuts(box[d], ideal[d], few))
          longer.push_back(widths), longer.back().cuts[d] = cuts;
      chosen = std::move(longer);
    }
    found.insert(found.end(), chosen.begin(), chosen.end());
  }
  return found;
}

}  // namespace

// Of those within 10 % of the best at the outermost level, the best over all levels.
Arrangement best_strips(const Problem& problem, const Coords& box, const Share& share) {
  constexpr std::size_t most_compared = 4;
  const double points = volume(box),
               work = points * static_cast<double>(problem.stencil.offsets.size());
  const auto outermost = [level = problem.kind(share).level + 1](
                             const Arrangement& a) { return a.costs[level]; };
  std::vector<Arrangement> found;  // sorted by the outermost level's cost; stable
  for (const auto& widths : candidates(problem, box, points / share.count, work > 2e5)) {
    Arrangement now{{}, strips(problem, box, widths)};
    now.costs = problem.costs(box, share, now.order);
    found.insert(std::ranges::upper_bound(found, outermost(now), {}, outermost), std::move(now));
    if (found.size() > most_compared) found.pop_back();
  }
  const auto limit = outermost(found.front()) + outermost(found.front()) / 10;
  std::erase_if(found, [&](const auto& each) { return outermost(each) > limit; });
  return *std::ranges::min_element(found, {}, [](const auto& each) { return weighed(each.costs); });
}

Attempt stencil_strips(const Problem& problem) {
  return {best_strips(problem, problem.grid.extent, problem.share(0, problem.grid.size())).order};
}

}  // namespace parhelion::placement

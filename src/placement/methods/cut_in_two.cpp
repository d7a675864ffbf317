#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

// Bisects where `choose(box, first)` says. Equal boxes share one order if `first` differs by a
// multiple of `period`.
template <class Choose>
Attempt cut_in_two(const Problem& problem, int period, const Choose& choose) {
  std::map<std::pair<Coords, int>, Piece> pieces;
  const auto piece_of = [&](const Coords& box, int first) -> Piece& {
    const auto [known, is_new] = pieces.try_emplace({box, first % period});
    if (is_new) known->second.cut = choose(box, first);
    return known->second;
  };
  return {order_of(problem, problem.grid.extent, 0, piece_of)};
}

// Of one cut per dimension, with `thickness(d)` (0: none) and `cost(d, thickness, bytes)`.
template <class Thickness, class Cost>
Cut cheapest(
    const Problem& problem, const Coords& box, const Thickness& thickness, const Cost& cost) {
  Cut best;
  double least = std::numeric_limits<double>::infinity();
  for (int d = 0; d < problem.grid.dimensions; ++d) {
    const Cut cut{d, box[d] > 1 ? thickness(d) : 0};
    if (cut.thickness == 0) continue;
    const double now =
        cost(d, cut.thickness, static_cast<double>(problem.cut(box, d, cut.thickness)));
    if (now < least) least = now, best = cut;
  }
  return best;
}

// In favor of the longest dimension: keeps halves compact.
double tie(const Coords& box, int d) { return 1e-6 * box[d]; }

// Boundary strictly inside (first, last), of the outermost level that has one, nearest to the
// middle; −1: none.
int middle_boundary(const Machine& machine, int first, int last) {
  const int node = machine.node_of(first), start = machine.first_position(node);
  const int end = start + machine.shape(node).ranks, middle = first + (last - first) / 2;
  int best = -1;
  const auto offer = [&](int at) {
    if (at > first && at < last && (best < 0 || std::abs(at - middle) < std::abs(best - middle)))
      best = at;
  };
  if (end < last) {
    offer(end);
    const int around = machine.node_of(middle);
    for (const int n : {around, around + 1})
      if (n < machine.nodes()) offer(machine.first_position(n));
    return best;
  }
  for (const auto& starts : machine.shape(node).starts) {
    for (const int at : starts) offer(start + at);
    if (best >= 0) break;
  }
  return best;
}

}  // namespace

// Halves the dimension that is cheapest to cut, down to single points.
Attempt kd_tree(const Problem& problem) {
  const auto choose = [&](const Coords& box, int) {
    return cheapest(
        problem, box, [&](int d) { return box[d] / 2; },
        [&](int d, int, double bytes) { return bytes - tie(box, d); });
  };
  return cut_in_two(problem, 1, choose);
}

// Bisects the ranks at a boundary of the outermost possible level, and the box at the nearest
// plane. If that misses the boundary, a unit straddles it; its pieces stay adjacent.
Attempt recursive_bisection(const Problem& problem) {
  constexpr int largest_unshared_grid = 1 << 16;
  const Machine& machine = problem.machine;
  if (!machine.uniform() && problem.grid.size() > largest_unshared_grid)
    return {{},
        "unequal ranks per node on more than 65536 points would need an order as large as "
        "the grid"};
  const auto choose = [&](const Coords& box, int first) {
    const int boundary = middle_boundary(machine, first, first + volume(box));
    if (boundary < 0) return Cut{};
    const auto face = [&](int d) { return volume(box) / box[d]; };
    const auto thickness = [&](int d) {
      return std::clamp((boundary - first + face(d) / 2) / face(d), 1, box[d] - 1);
    };
    // A plane that misses the boundary leaves a ragged edge: the miss adds to the cost.
    const auto cost = [&](int d, int at, double bytes) {
      const double missed =
          std::abs(at * face(d) - (boundary - first)) / static_cast<double>(face(d));
      return bytes * (1 + missed) - tie(box, d);
    };
    return cheapest(problem, box, thickness, cost);
  };
  const int period = machine.uniform() ? machine.shape(0).ranks : machine.size();
  return cut_in_two(problem, period, choose);
}

}  // namespace parhelion::placement

#include <algorithm>
#include <map>
#include <numeric>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

constexpr std::int64_t cut_budget = 4'000'000;    // offsets visited by cuts, about 0.1 s
constexpr std::int64_t strip_budget = 4'000'000;  // points × offsets while trying strips
constexpr std::int64_t path_budget = 10'000'000;  // points × offsets while evaluating plain paths
constexpr int most_parts_for_strips = 16;
constexpr int most_depth = 128;  // of nested cuts: bounds recursion

// The best guillotine partition of a box into boxes of whole units, by dynamic programming over box
// shapes. The cost is exact: every edge that leaves a unit crosses exactly one cut. Small boxes,
// and those that no plane cuts into whole units, also try strips.
class Guillotine {
 public:
  explicit Guillotine(const Problem& problem) : problem_(problem) {}

  Attempt attempt() {
    solve(problem_.grid.extent, 0);
    if (given_up())
      return {{},
          "few planes cut the grid into whole units, and looking for the best ones would "
          "take too long"};
    return {
        order_of(problem_, problem_.grid.extent, 0, [&](const Coords& box, int first) -> Choice& {
          return known_.at({box, problem_.share(first, volume(box))});
        })};
  }

 private:
  struct Choice : Piece {
    Costs costs{};
    int height = 0;  ///< nested cuts

    bool found() const { return cut.dimension >= 0 || !order.empty(); }
  };

  bool given_up() const { return path_work_ > path_budget; }

  const Choice& solve(const Coords& box, int first) {
    const Share share = problem_.share(first, volume(box));
    const auto [known, is_new] = known_.try_emplace({box, share});
    if (is_new && share.count > 0 && !given_up()) {
      ++depth_;
      known->second = search(box, first, share);
      --depth_;
    }
    return known->second;
  }

  Choice search(const Coords& box, int first, const Share& share) {
    Choice best;
    for (int d = 0; d < problem_.grid.dimensions && depth_ < most_depth; ++d)
      try_cuts(box, first, share, d, best);
    const bool few = share.count <= most_parts_for_strips && affordable(box);
    if (!best.found() || few) try_strips(box, share, best);
    return best;
  }

  void try_cuts(const Coords& box, int first, const Share& share, int d, Choice& best) {
    const int face = volume(box) / box[d];
    // Equal parts: only every stride-th plane cuts whole ones; symmetry leaves half the planes.
    const int part = problem_.part(share, 0).ranks;
    const bool equal = problem_.kind(share).equal_parts;
    const int stride = equal ? part / std::gcd(part, face) : 1;
    const int most = equal ? box[d] / 2 / stride * stride : box[d] - 1;
    const auto try_at = [&](int thickness) {
      const bool whole = whole_parts(share, thickness * face);
      if (whole) try_cut(box, first, share, {d, thickness}, best);
      return whole;
    };
    if (cut_work_ < cut_budget && depth_ < most_depth / 2)
      // Nested searches that began within the budget end soon after it.
      for (int thickness = stride; thickness <= most && cut_work_ < 2 * cut_budget;
          thickness += stride)
        try_at(thickness);
    else  // only the most balanced cut
      for (int thickness = equal ? most : most / 2; thickness >= 1 && !try_at(thickness);
          thickness -= stride) {
      }
  }

  bool whole_parts(const Share& share, int ranks) const {
    const auto& starts = problem_.kind(share).starts;
    const auto first = starts.begin() + share.first;
    return *std::lower_bound(first, first + share.count, *first + ranks) == *first + ranks;
  }

  void try_cut(const Coords& box, int first, const Share& share, const Cut& cut, Choice& best) {
    cut_work_ += std::ssize(problem_.stencil.offsets);
    Choice now{{cut}};
    now.costs[problem_.kind(share).level + 1] = problem_.cut(box, cut.dimension, cut.thickness);
    const auto worse = [&] { return best.found() && weighed(now.costs) >= weighed(best.costs); };
    const auto [left, right] = halves(box, cut);
    int at = first;
    for (const Coords& half : {left, right}) {
      if (worse()) return;
      const Choice& inside = solve(half, at);
      std::ranges::transform(now.costs, inside.costs, now.costs.begin(), std::plus{});
      now.height = std::max(now.height, inside.height + 1);
      at += volume(half);
    }
    if (now.height <= most_depth && !worse()) best = std::move(now);
  }

  std::int64_t strip_cost(const Coords& box) const {
    return 16ll * volume(box) * std::ssize(problem_.stencil.offsets);
  }
  bool affordable(const Coords& box) const { return strip_work_ + strip_cost(box) <= strip_budget; }

  void try_strips(const Coords& box, const Share& share, Choice& best) {
    const bool cheap = affordable(box);
    strip_work_ += strip_cost(box);
    Arrangement now;
    if (cheap || box == problem_.grid.extent) {
      now = best_strips(problem_, box, share);
    } else {
      path_work_ += strip_cost(box) / 16;
      if (given_up()) return;
      now.order = plain_path(problem_, box), now.costs = problem_.costs(box, share, now.order);
    }
    if (!best.found() || weighed(now.costs) < weighed(best.costs))
      best = {{{}, std::move(now.order)}, now.costs};
  }

  const Problem& problem_;
  std::map<std::pair<Coords, Share>, Choice> known_;
  std::int64_t cut_work_ = 0, strip_work_ = 0, path_work_ = 0;
  int depth_ = 0;
};

}  // namespace

Attempt guillotine(const Problem& problem) { return Guillotine(problem).attempt(); }

}  // namespace parhelion::placement

#include <algorithm>
#include <cmath>
#include <functional>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

// Along `run` goes a strip's slow dimension; every other dimension d is cut into cuts[d] nearly equal widths.
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

// To and fro: an odd slab is passed with its inner strips in reverse, and along the run too when the slab before it
// ended at the far end, that is when it holds an odd number of strips.
Order strips(const Problem& problem, Coords box, const Widths& widths, std::size_t depth = 0) {
    const auto across = dimensions_across(problem, widths.run);
    if (depth == across.size()) {
        auto fastest_first = across;
        std::ranges::stable_sort(fastest_first, {}, [&](int d) { return box[d]; });
        fastest_first.push_back(widths.run);
        return Order::path(box, fastest_first, true);
    }
    const int d = across[depth];
    unsigned turn = 0;
    int inner = 1;
    for (std::size_t i = depth + 1; i < across.size(); ++i) turn |= 1u << across[i], inner *= widths.cuts[across[i]];
    if (inner % 2 == 1) turn |= 1u << widths.run;
    const int n = widths.cuts[d], wide = box[d] % n, thickness = box[d] / n;
    std::vector<Order::Part> parts;
    const auto add = [&](int count, int width, bool odd) {
        if (count == 0) return;
        box[d] = width;
        parts.push_back({count, strips(problem, box, widths, depth + 1), static_cast<Order::Mirror>(odd ? turn : 0u),
                         static_cast<Order::Mirror>(turn)});
    };
    add(wide, thickness + 1, false);
    add(n - wide, thickness, wide % 2 == 1);
    return Order::slabs(d, parts);
}

std::vector<int> candidate_cuts(int extent, double ideal_width, bool few) {
    const double cuts = extent / ideal_width;
    const int low = static_cast<int>(std::floor(cuts));
    std::vector<int> candidates;
    for (int c = few ? low : low - 1; c <= (few ? low + 1 : low + 2); ++c)
        if (c >= 1 && c <= extent) candidates.push_back(c);
    if (candidates.empty()) candidates.push_back(std::clamp(low, 1, extent));
    return candidates;
}

std::vector<Widths> candidates(const Problem& problem, const Coords& box, double ranks_per_part, bool few) {
    std::vector<Widths> found;
    const auto ideal = ideal_block(problem, box, ranks_per_part);
    for (int run = 0; run < problem.grid.dimensions; ++run) {
        if (box[run] == 1 && volume(box) > 1) continue;
        const auto across = dimensions_across(problem, run);
        Widths widths{run, {1, 1, 1, 1}};
        const std::function<void(std::size_t)> choose = [&](std::size_t i) {
            if (i == across.size()) {
                found.push_back(widths);
                return;
            }
            for (const int cuts : candidate_cuts(box[across[i]], ideal[across[i]], few)) {
                widths.cuts[across[i]] = cuts;
                choose(i + 1);
            }
        };
        choose(0);
    }
    return found;
}

struct Strips {
    std::int64_t outermost;
    Order order;
};

// Of those that are nearly the best at the outermost level, the best over all levels.
Arrangement best_inside(const Problem& problem, const Coords& box, const Share& share, const std::vector<Strips>& sorted) {
    const auto limit = sorted.front().outermost + sorted.front().outermost / 10;
    Arrangement best;
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 4) && sorted[i].outermost <= limit; ++i) {
        const Costs costs = costs_within(problem, box, share, sorted[i].order);
        if (!best.order || weighed(costs) < weighed(best.costs)) best = {costs, sorted[i].order};
    }
    return best;
}

}  // namespace

Arrangement best_strips(const Problem& problem, const Coords& box, const Share& share) {
    const double points = volume(box);
    const double work = points * static_cast<double>(problem.stencil.offsets.size());
    std::vector<Strips> found;
    for (const auto& widths : candidates(problem, box, points / share.count, work > 2e5)) {
        Order order = strips(problem, box, widths);
        const auto bytes = outermost_cost(problem, box, share, order);
        found.push_back({bytes, std::move(order)});
    }
    std::ranges::stable_sort(found, {}, &Strips::outermost);
    return best_inside(problem, box, share, found);
}

Attempt stencil_strips(const Problem& problem) { return {best_strips(problem, problem.grid.extent, problem.whole()).order, ""}; }

}  // namespace parhelion::placement

#include <algorithm>
#include <numeric>

#include "methods.hpp"

namespace parhelion::placement {

Attempt blocked(const Problem& problem) { return {Order::path(problem.grid.extent, {}, false), ""}; }

Order plain_path(const Problem& problem, const Coords& box) {
    std::vector<int> fastest_first(static_cast<std::size_t>(problem.grid.dimensions));
    std::iota(fastest_first.begin(), fastest_first.end(), 0);
    const auto weight = problem.cut_weight();
    // Relative length in units of what is ideal: the longest dimension is walked slowest.
    std::ranges::stable_sort(fastest_first, {}, [&](int d) { return box[d] / weight[d]; });
    return Order::path(box, fastest_first, true);
}

}  // namespace parhelion::placement

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

constexpr int largest_unshared_grid = 1 << 16;

// Cuts the machine's ranks in two at a boundary of the outermost possible level, and the box at the plane that comes
// nearest to it. Where the plane misses the boundary a unit straddles it; the order keeps its two pieces together.
class Bisection {
public:
    explicit Bisection(const Problem& problem) : problem_(problem), machine_(problem.machine) {}

    Order arrange(const Coords& box, int first) {
        const int size = volume(box);
        if (size == 1) return Order::path(box, {}, false);
        const auto key = std::pair(box, machine_.uniform() ? first % machine_.shape(0).ranks : first);
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        const int boundary = middle_boundary(first, first + size);
        Order order = boundary < 0 ? plain_path(problem_, box) : split(box, first, boundary - first);
        known_.emplace(key, order);
        return order;
    }

private:
    Order split(const Coords& box, int first, int target) {
        const auto [d, thickness] = plane(box, target);
        Coords left = box, right = box;
        left[d] = thickness;
        right[d] -= thickness;
        Order before = arrange(left, first);
        return Order::slabs(d, {{1, before}, {1, arrange(right, first + before.size())}});
    }

    std::pair<int, int> plane(const Coords& box, int target) const {
        std::pair<int, int> best{0, 1};
        auto least = std::numeric_limits<double>::infinity();
        for (int d = 0; d < problem_.grid.dimensions; ++d) {
            if (box[d] == 1) continue;
            const int face = volume(box) / box[d];
            const int thickness = std::clamp((target + face / 2) / face, 1, box[d] - 1);
            // A plane that misses the boundary leaves a ragged edge: charge what it misses as a part of the cut.
            const double missed = std::abs(thickness * face - target) / static_cast<double>(face);
            const double bytes = static_cast<double>(problem_.cut(box, d, thickness)) * (1 + missed) - 1e-6 * box[d];
            if (bytes < least) least = bytes, best = {d, thickness};
        }
        return best;
    }

    // The boundary strictly inside (first, last) of the outermost level that has one, nearest to the middle.
    int middle_boundary(int first, int last) const {
        const int node = machine_.node_of(first);
        const int end = machine_.first_position(node) + machine_.shape(node).ranks;
        const int middle = first + (last - first) / 2;
        if (end < last) {
            const int m = machine_.node_of(middle);
            int best = end;
            for (const int n : {m, m + 1})
                if (const int b = n < machine_.nodes() ? machine_.first_position(n) : last;
                    b > first && b < last && std::abs(b - middle) < std::abs(best - middle))
                    best = b;
            return best;
        }
        for (const auto& starts : machine_.shape(node).starts) {
            int best = -1;
            for (const int start : starts) {
                const int b = machine_.first_position(node) + start;
                if (b > first && b < last && (best < 0 || std::abs(b - middle) < std::abs(best - middle))) best = b;
            }
            if (best >= 0) return best;
        }
        return -1;
    }

    const Problem& problem_;
    const Machine& machine_;
    std::map<std::pair<Coords, int>, Order> known_;
};

}  // namespace

Attempt recursive_bisection(const Problem& problem) {
    if (!problem.machine.uniform() && problem.grid.size() > largest_unshared_grid)
        return {{}, "unequal ranks per node on more than 65536 points would need an order as large as the grid"};
    return {Bisection(problem).arrange(problem.grid.extent, 0), ""};
}

}  // namespace parhelion::placement

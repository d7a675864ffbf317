#include <limits>
#include <map>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

// Halves the dimension that is cheapest to cut, down to single points; ranks follow in that order.
class Halving {
public:
    explicit Halving(const Problem& problem) : problem_(problem) {}

    Order arrange(const Coords& box) {
        if (volume(box) == 1) return Order::path(box, {}, false);
        if (const auto known = known_.find(box); known != known_.end()) return known->second;
        const int d = cheapest(box);
        Coords left = box, right = box;
        left[d] = box[d] / 2;
        right[d] -= left[d];
        Order order = Order::slabs(d, {{1, arrange(left)}, {1, arrange(right)}});
        known_.emplace(box, order);
        return order;
    }

private:
    int cheapest(const Coords& box) const {
        int best = 0;
        auto least = std::numeric_limits<double>::infinity();
        for (int d = 0; d < problem_.grid.dimensions; ++d) {
            if (box[d] == 1) continue;
            // Among equal cuts the longest dimension, so that halves stay compact.
            const double bytes = static_cast<double>(problem_.cut(box, d, box[d] / 2)) - 1e-6 * box[d];
            if (bytes < least) least = bytes, best = d;
        }
        return best;
    }

    const Problem& problem_;
    std::map<Coords, Order> known_;
};

}  // namespace

Attempt kd_tree(const Problem& problem) { return {Halving(problem).arrange(problem.grid.extent), ""}; }

}  // namespace parhelion::placement

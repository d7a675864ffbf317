#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

struct Cut {
    int dimension = -1, thickness = 0, parts = 0;
};

// Splits where both sides hold whole units, the nearest to the middle in the dimension that is cheapest to cut.
// After Hunold et al. (CLUSTER 2020), without their base case: what cannot be split so is walked through.
class Hyperplane {
public:
    explicit Hyperplane(const Problem& problem) : problem_(problem) {}

    Order arrange(const Coords& box, Share share) {
        share = problem_.normal(share);
        if (share.count == 0) return plain_path(problem_, box);
        const auto [known, is_new] = known_.try_emplace({box, share});
        if (is_new) known->second = split(box, share);
        return *known->second;
    }

private:
    std::optional<Order> split(const Coords& box, const Share& share) {
        const Cut cut = choose(box, share);
        if (cut.dimension < 0) return plain_path(problem_, box);
        Coords left = box, right = box;
        left[cut.dimension] = cut.thickness;
        right[cut.dimension] -= cut.thickness;
        Order before = arrange(left, {share.kind, share.first, cut.parts});
        Order after = arrange(right, {share.kind, share.first + cut.parts, share.count - cut.parts});
        return Order::slabs(cut.dimension, {{1, std::move(before)}, {1, std::move(after)}});
    }

    Cut choose(const Coords& box, const Share& share) const {
        Cut best;
        auto least = std::numeric_limits<std::int64_t>::max();
        for (int d = 0; d < problem_.grid.dimensions; ++d) {
            const Cut cut = nearest_to_middle(box, share, d);
            if (cut.dimension < 0) continue;
            if (const auto bytes = problem_.cut(box, d, cut.thickness); bytes < least) least = bytes, best = cut;
        }
        return best;
    }

    Cut nearest_to_middle(const Coords& box, const Share& share, int d) const {
        const auto& starts = problem_.kinds[share.kind].starts;
        const auto first = starts.begin() + share.first;
        const int face = volume(box) / box[d];
        Cut best;
        for (int k = 1; k < share.count; ++k) {
            const int ranks = first[k] - first[0];
            if (ranks % face != 0) continue;
            const int thickness = ranks / face;
            if (best.dimension < 0 || std::abs(2 * thickness - box[d]) < std::abs(2 * best.thickness - box[d])) best = {d, thickness, k};
        }
        return best;
    }

    const Problem& problem_;
    std::map<std::pair<Coords, Share>, std::optional<Order>> known_;
};

}  // namespace

Attempt hyperplane(const Problem& problem) { return {Hyperplane(problem).arrange(problem.grid.extent, problem.whole()), ""}; }

}  // namespace parhelion::placement

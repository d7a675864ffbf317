#include <algorithm>
#include <map>
#include <numeric>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

constexpr std::int64_t cut_budget = 4'000'000;    // offsets looked at while cutting, about 0.1 s
constexpr std::int64_t strip_budget = 4'000'000;  // points × offsets while trying strips
constexpr std::int64_t path_budget = 10'000'000;  // points × offsets while counting what plain paths cost
constexpr int most_parts_for_strips = 16;
constexpr int most_depth = 128;  // of cuts within cuts: the search, and whoever walks through its result, recurses

// The best way to cut a box, cut after cut from side to side, into boxes of whole units, by dynamic programming over
// box shapes. The cost is exact: every edge that leaves a unit is separated by exactly one cut. Boxes that no plane
// cuts into whole units, and small ones in any case, are tried with strips.
class Guillotine {
public:
    explicit Guillotine(const Problem& problem) : problem_(problem) {}

    /// The order of the whole grid; none where looking for it would take too long.
    std::optional<Order> order() {
        solve(problem_.grid.extent, problem_.whole());
        if (given_up()) return std::nullopt;
        return arrange(problem_.grid.extent, problem_.whole());
    }

private:
    bool given_up() const { return path_work_ > path_budget; }

    Order arrange(const Coords& box, Share share) {
        share = problem_.normal(share);
        const auto key = std::pair(box, share);
        if (const auto made = made_.find(key); made != made_.end()) return made->second;
        const Choice& choice = solve(box, share);
        Order order = share.count == 0 ? Order::path(box, {}, false) : choice.strips ? *choice.strips : cut_in_two(box, share, choice);
        made_.emplace(key, order);
        return order;
    }

    struct Choice {
        Costs costs{};
        int dimension = -1, thickness = 0, parts = 0;
        std::optional<Order> strips;
        int height = 0;  ///< cuts within this one

        bool found() const { return dimension >= 0 || strips; }
    };

    Order cut_in_two(const Coords& box, const Share& share, const Choice& choice) {
        const auto [left, right] = halves(box, choice.dimension, choice.thickness);
        Order before = arrange(left, {share.kind, share.first, choice.parts});
        Order after = arrange(right, {share.kind, share.first + choice.parts, share.count - choice.parts});
        return Order::slabs(choice.dimension, {{1, std::move(before)}, {1, std::move(after)}});
    }

    static std::pair<Coords, Coords> halves(const Coords& box, int d, int thickness) {
        Coords left = box, right = box;
        left[d] = thickness;
        right[d] -= thickness;
        return {left, right};
    }

    const Choice& solve(const Coords& box, Share share) {
        share = problem_.normal(share);
        const auto [known, is_new] = known_.try_emplace({box, share});
        if (is_new && share.count > 0 && !given_up()) {
            ++depth_;
            known->second = search(box, share);
            --depth_;
        }
        return known->second;
    }

    Choice search(const Coords& box, const Share& share) {
        Choice best;
        for (int d = 0; d < problem_.grid.dimensions && depth_ < most_depth; ++d) try_cuts(box, share, d, best);
        if (!best.found() || worth_strips(box, share)) try_strips(box, share, best);
        return best;
    }

    void try_cuts(const Coords& box, const Share& share, int d, Choice& best) {
        const auto& kind = problem_.kinds[share.kind];
        const int face = volume(box) / box[d];
        // Equal parts: only every stride-th plane holds whole ones, and either side may come first.
        const int part = problem_.kinds[kind.parts[static_cast<std::size_t>(share.first)]].ranks;
        const int stride = kind.equal_parts ? part / std::gcd(part, face) : 1;
        const int most = kind.equal_parts ? box[d] / 2 / stride * stride : box[d] - 1;
        const auto try_at = [&](int thickness) {
            const int parts = parts_in(share, thickness * face);
            if (parts > 0) try_cut(box, share, {{}, d, thickness, parts, {}, 0}, best);
            return parts > 0;
        };
        if (cut_work_ < cut_budget && depth_ < most_depth / 2)
            // Searches within searches have begun before the budget was spent: they end soon after it.
            for (int thickness = stride; thickness <= most && cut_work_ < 2 * cut_budget; thickness += stride) try_at(thickness);
        else  // only the most balanced cut
            for (int thickness = most / 2; thickness >= 1 && !try_at(thickness); thickness -= stride) {
            }
    }

    // How many of the share's parts have exactly that many ranks; 0 if a part would be cut.
    int parts_in(const Share& share, int ranks) const {
        const auto& starts = problem_.kinds[share.kind].starts;
        const auto first = starts.begin() + share.first;
        const auto found = std::lower_bound(first, first + share.count, *first + ranks);
        return *found == *first + ranks ? static_cast<int>(found - first) : 0;
    }

    void try_cut(const Coords& box, const Share& share, Choice now, Choice& best) {
        cut_work_ += static_cast<std::int64_t>(problem_.stencil.offsets.size());
        const auto level = static_cast<std::size_t>(problem_.kinds[share.kind].level + 1);
        const auto worse = [&] { return best.found() && weighed(now.costs) >= weighed(best.costs); };
        now.costs[level] = problem_.cut(box, now.dimension, now.thickness);
        if (worse()) return;
        const auto [left, right] = halves(box, now.dimension, now.thickness);
        const Choice& before = solve(left, {share.kind, share.first, now.parts});
        add(before.costs, now.costs);
        if (worse()) return;
        const Choice& after = solve(right, {share.kind, share.first + now.parts, share.count - now.parts});
        add(after.costs, now.costs);
        now.height = 1 + std::max(before.height, after.height);
        if (now.height <= most_depth && !worse()) best = std::move(now);
    }

    static void add(const Costs& part, Costs& sum) { std::ranges::transform(sum, part, sum.begin(), std::plus{}); }

    bool worth_strips(const Coords& box, const Share& share) const {
        return share.count <= most_parts_for_strips && strip_work_ + strip_cost(box) <= strip_budget;
    }

    std::int64_t strip_cost(const Coords& box) const {
        return 16ll * volume(box) * static_cast<std::int64_t>(problem_.stencil.offsets.size());
    }

    void try_strips(const Coords& box, const Share& share, Choice& best) {
        const bool affordable = strip_work_ + strip_cost(box) <= strip_budget;
        if (!affordable && best.found()) return;
        strip_work_ += strip_cost(box);
        Arrangement now;
        if (affordable || box == problem_.grid.extent) {
            now = best_strips(problem_, box, share);
        } else {
            path_work_ += strip_cost(box) / 16;
            if (given_up()) return;
            now.order = plain_path(problem_, box), now.costs = costs_within(problem_, box, share, *now.order);
        }
        if (best.found() && weighed(now.costs) >= weighed(best.costs)) return;
        best = {};
        best.costs = now.costs, best.strips = std::move(now.order);
    }

    const Problem& problem_;
    std::map<std::pair<Coords, Share>, Choice> known_;
    std::map<std::pair<Coords, Share>, Order> made_;
    std::int64_t cut_work_ = 0, strip_work_ = 0, path_work_ = 0;
    int depth_ = 0;
};

}  // namespace

Attempt guillotine(const Problem& problem) {
    auto order = Guillotine(problem).order();
    if (!order) return {std::nullopt, "few planes cut the grid into whole units, and looking for the best ones would take too long"};
    return {std::move(order), ""};
}

}  // namespace parhelion::placement

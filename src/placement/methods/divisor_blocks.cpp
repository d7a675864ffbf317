#include <map>

#include "methods.hpp"

namespace parhelion::placement {
namespace {

// Bytes between the tiles when `box` is cut into tiles of the given extents.
std::int64_t tiling_cut(const Problem& problem, Coords box, const Coords& tile) {
    std::int64_t bytes = 0, slabs = 1;
    for (int d = 0; d < problem.grid.dimensions; ++d) {
        const int count = box[d] / tile[d];
        for (; box[d] > tile[d]; box[d] -= tile[d]) bytes += slabs * problem.cut(box, d, tile[d]);
        slabs *= count;
    }
    return bytes;
}

template <class Visit>
void for_each_tile(const Coords& box, int ranks, Coords tile, int d, const Visit& visit) {
    if (d == max_dimensions) {
        if (ranks == 1) visit(tile);
        return;
    }
    for (int along = 1; along <= box[d]; ++along)
        if (box[d] % along == 0 && ranks % along == 0) {
            tile[d] = along;
            for_each_tile(box, ranks / along, tile, d + 1, visit);
        }
}

class Blocks {
public:
    explicit Blocks(const Problem& problem) : problem_(problem) {}

    const Arrangement& arrange(const Coords& box, Share share) {
        share = problem_.normal(share);
        auto& known = known_[{box, share}];
        if (!known.order) known = search(box, share);
        return known;
    }

    bool outermost_fits() const { return outermost_fits_; }

private:
    Arrangement search(const Coords& box, const Share& share) {
        const auto& kind = problem_.kinds[share.kind];
        Arrangement best;
        if (share.count > 1 && kind.equal_parts) {
            const int part = kind.parts.front();
            for_each_tile(box, problem_.kinds[part].ranks, {1, 1, 1, 1}, 0, [&](const Coords& tile) {
                Arrangement now = tiled(box, share, tile);
                if (!best.order || weighed(now.costs) < weighed(best.costs)) best = std::move(now);
            });
        }
        if (!best.order) {
            outermost_fits_ = outermost_fits_ && share.kind != problem_.kinds.whole();
            best.order = plain_path(problem_, box);
            if (share.count > 1) best.costs = costs_within(problem_, box, share, *best.order);
        }
        return best;
    }

    Arrangement tiled(const Coords& box, const Share& share, const Coords& tile) {
        const auto level = static_cast<std::size_t>(problem_.kinds[share.kind].level + 1);
        const int part = problem_.kinds[share.kind].parts.front();
        const Arrangement& inside = arrange(tile, {part, 0, problem_.kinds[part].count()});
        Arrangement now{inside.costs, inside.order};
        for (auto& cost : now.costs) cost *= share.count;
        now.costs[level] += tiling_cut(problem_, box, tile);
        for (int d = max_dimensions - 1; d >= 0; --d)
            if (const int count = box[d] / tile[d]; count > 1) now.order = Order::slabs(d, {{count, *now.order}});
        return now;
    }

    const Problem& problem_;
    std::map<std::pair<Coords, Share>, Arrangement> known_;
    bool outermost_fits_ = true;
};

}  // namespace

Attempt divisor_blocks(const Problem& problem) {
    const auto share = problem.whole();
    if (share.count > 1 && !problem.kinds[share.kind].equal_parts) return {{}, "the nodes have unequal ranks"};
    Blocks blocks(problem);
    const auto& found = blocks.arrange(problem.grid.extent, share);
    if (!blocks.outermost_fits()) return {{}, "no block of one node's ranks divides the process grid"};
    return {found.order, ""};
}

}  // namespace parhelion::placement

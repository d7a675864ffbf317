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
    for (int along = 1; along <= box[d] && along <= ranks; ++along)
        if (box[d] % along == 0 && ranks % along == 0) {
            tile[d] = along;
            for_each_tile(box, ranks / along, tile, d + 1, visit);
        }
}

// Equal blocks of one unit's ranks, those of the units inside it within them, by trying all.
class Blocks {
public:
    explicit Blocks(const Problem& problem) : problem_(problem) {}

    const Arrangement& arrange(const Coords& box, const Share& share) {
        auto& known = known_[{box, share}];
        if (known.order.empty()) known = search(box, share);
        return known;
    }

    bool outermost_fits = true;

private:
    Arrangement search(const Coords& box, const Share& share) {
        if (share.count > 1 && problem_.kind(share).equal_parts) {
            const UnitKind& part = problem_.part(share, 0);
            const Share inner = problem_.share(part.position, part.ranks);
            Costs best;
            Coords best_tile{};
            for_each_tile(box, part.ranks, {1, 1, 1, 1}, 0, [&](const Coords& tile) {
                Costs now = arrange(tile, inner).costs;
                for (auto& cost : now) cost *= share.count;
                now[problem_.kind(share).level + 1] += tiling_cut(problem_, box, tile);
                if (best_tile[0] == 0 || weighed(now) < weighed(best)) best = now, best_tile = tile;
            });
            if (best_tile[0] > 0)
                return {best, tiled(box, best_tile, arrange(best_tile, inner).order)};
        }
        outermost_fits = outermost_fits && problem_.kind(share).level >= 0;
        Arrangement path{{}, plain_path(problem_, box)};
        if (share.count > 1) path.costs = problem_.costs(box, share, path.order);
        return path;
    }

    Order tiled(const Coords& box, Coords tile, Order order) const {
        for (int d = max_dimensions - 1; d >= 0; --d) {
            const std::vector<Slab> slabs(box[d] / tile[d], {tile[d], order});
            tile[d] = box[d];
            order = slab_after_slab(tile, d, slabs);
        }
        return order;
    }

    const Problem& problem_;
    std::map<std::pair<Coords, Share>, Arrangement> known_;
};

}  // namespace

Attempt divisor_blocks(const Problem& problem) {
    const Share share = problem.share(0, problem.grid.size());
    if (share.count > 1 && problem.kind(share).level < 0 && !problem.kind(share).equal_parts)
        return {{}, "the nodes have unequal ranks"};
    Blocks blocks(problem);
    Order order = blocks.arrange(problem.grid.extent, share).order;
    if (!blocks.outermost_fits)
        return {{}, "no block of one node's ranks divides the process grid"};
    return {std::move(order), ""};
}

}  // namespace parhelion::placement

#include "pattern/by_dimensions.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace parhelion {
namespace {

bool is_face(DimensionSet ghosts) { return std::has_single_bit(ghosts); }

// Each block with its face ghosts.
std::vector<Box> extended_blocks(const Pattern& pattern) {
    std::vector<Box> all = pattern.blocks;
    for (const Link& link : pattern.stages.front())
        for (const BoxPiece& piece : link.receive.boxes) {
            const DimensionSet ghosts = ghost_dimensions(piece, pattern.dimensions);
            if (!is_face(ghosts)) continue;
            const int d = std::countr_zero(ghosts);
            Box& block = all[piece.block];
            block.lo[d] = std::min(block.lo[d], piece.cells.lo[d]);
            block.hi[d] = std::max(block.hi[d], piece.cells.hi[d]);
        }
    return all;
}

class Restage {
public:
    explicit Restage(const Pattern& pattern)
        : pattern_(pattern), extended_(extended_blocks(pattern)) {}

    Stage stage(DimensionSet here, DimensionSet before) const {
        Stage stage;
        for (const Link& link : pattern_.stages.front()) {
            Link part{link.rank, {}, {}, 0, 0, {}, {}};
            take(link.send.boxes, link.send_unique, link.send_duplicate_of, here, before,
                 part.send.boxes, part.send_unique, part.send_duplicate_of);
            take(link.receive.boxes, link.receive_unique, link.receive_duplicate_of, here, before,
                 part.receive.boxes, part.receive_unique, part.receive_duplicate_of);
            if (!part.send.empty() || !part.receive.empty()) stage.push_back(std::move(part));
        }
        return stage;
    }

private:
    // A duplicate lies beyond a superset of its original's sides: the stage has the original, too.
    void take(const std::vector<BoxPiece>& all, local_index all_unique,
              const std::vector<local_index>& duplicate_of, DimensionSet here, DimensionSet before,
              std::vector<BoxPiece>& some, local_index& some_unique,
              std::vector<local_index>& some_duplicate_of) const {
        std::vector<local_index> place(all.size(), -1);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((ghost_dimensions(all[i], pattern_.dimensions) & ~here) != 0) continue;
            const auto unique = static_cast<std::size_t>(all_unique);
            if (i < unique) place[i] = some_unique++;
            else some_duplicate_of.push_back(place[duplicate_of[i - unique]]);
            some.push_back(extend(all[i], before));
        }
    }

    BoxPiece extend(BoxPiece piece, DimensionSet before) const {
        const Box& block = extended_[piece.block];
        for (int d = 0; d < pattern_.dimensions; ++d)
            if ((before >> d & 1) != 0)
                piece.cells.lo[d] = block.lo[d], piece.cells.hi[d] = block.hi[d];
        return piece;
    }

    const Pattern& pattern_;
    const std::vector<Box> extended_;
};

}  // namespace

DimensionSet ghost_dimensions(const BoxPiece& piece, int dimensions) {
    unsigned ghosts = 0;
    for (int d = 0; d < dimensions; ++d)
        if (piece.cells.lo[d] < piece.owner.lo[d] || piece.cells.hi[d] > piece.owner.hi[d])
            ghosts |= 1u << d;
    return static_cast<DimensionSet>(ghosts);
}

// Per side of a block: an interval of ghosts. Every combination is a piece, except at folds and
// land.
bool fills_corners(const Pattern& pattern) {
    if (pattern.indexed() || pattern.stages.size() != 1) return false;
    using Intervals = std::set<std::pair<global_index, global_index>>;
    std::vector<std::array<Intervals, max_dimensions>> ghosts(pattern.blocks.size());
    std::vector<std::size_t> pieces(pattern.blocks.size(), 1);
    for (const Link& link : pattern.stages.front())
        for (const BoxPiece& piece : link.receive.boxes) {
            if (piece.turn.seam) return false;
            const auto block = static_cast<std::size_t>(piece.block);
            ++pieces[block];
            const DimensionSet beside = ghost_dimensions(piece, pattern.dimensions);
            for (std::size_t d = 0; d < max_dimensions; ++d)
                if ((beside >> d & 1) != 0)
                    ghosts[block][d].emplace(piece.cells.lo[d], piece.cells.hi[d]);
        }
    for (std::size_t b = 0; b < pieces.size(); ++b) {
        std::size_t all = 1;
        for (const Intervals& along : ghosts[b]) all *= 1 + along.size();
        if (pieces[b] != all) return false;
    }
    return true;
}

Pattern by_dimensions(const Pattern& pattern, const std::vector<DimensionSet>& stages) {
    if (pattern.indexed()) return pattern;
    Pattern staged{pattern.communicator, pattern.dimensions, pattern.blocks, pattern.halo, 0, 0, {},
                   pattern.stagger,      pattern.ends};
    const Restage restage(pattern);
    unsigned before = 0;
    for (const DimensionSet here : stages) {
        staged.stages.push_back(restage.stage(here, static_cast<DimensionSet>(before)));
        before |= here;
    }
    return staged;
}

}  // namespace parhelion

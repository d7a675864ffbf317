// Rejects inconsistent patterns, which would corrupt memory or hang.
#include <algorithm>
#include <vector>

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "pattern/axis_map.hpp"
#include "pattern/shape.hpp"

namespace parhelion {
namespace {

constexpr global_index largest_coordinate = global_index{1} << 48;
constexpr double most_cells = 1e15;  // per box: keeps byte counts within 64 bits

[[noreturn]] void refuse(const std::string& what) {
    throw Error("broken pattern: " + what + ": build it again from its domain");
}

[[noreturn]] void refuse(const Link& link, const std::string& what) {
    refuse(concat("link with rank ", link.rank, ", ", what));
}

bool in_range(const Box& box) {
    double cells = 1;
    for (int d = 0; d < max_dimensions; ++d) {
        if (box.lo[d] < -largest_coordinate || box.hi[d] > largest_coordinate ||
            box.lo[d] > box.hi[d])
            return false;
        cells *= static_cast<double>(box.extent(d));
    }
    return cells <= most_cells;
}

void check_blocks(const Pattern& pattern) {
    if (pattern.blocks.empty() || pattern.owned != 0 || pattern.ghosts != 0)
        refuse("it has no blocks, or index cells too");
    if (pattern.stages.size() != 1 && static_cast<int>(pattern.stages.size()) != pattern.dimensions)
        refuse(concat("it has ", pattern.stages.size(), " stages"));
    for (int d = 0; d < max_dimensions; ++d)
        if (pattern.halo.lower[d] < 0 || pattern.halo.upper[d] < 0)
            refuse("its halo width is negative");
    for (const Box& block : pattern.blocks) {
        if (!in_range(block) || !in_range(grow(block, pattern.halo, pattern.dimensions)))
            refuse("a block is out of range");
        for (int d = pattern.dimensions; d < max_dimensions; ++d)
            if (block.lo[d] != 0 || block.hi[d] != 1)
                refuse("a block has more dimensions than the pattern");
    }
}

// Runs before these numbers size any allocation.
void check_cells(const Pattern& pattern) {
    if (!pattern.blocks.empty() || pattern.stages.size() != 1)
        refuse("it has index cells, but also blocks or stages");
    std::size_t received = 0;
    for (const Link& link : pattern.stages[0]) received += link.receive.cells.size();
    const auto ghosts = static_cast<std::size_t>(std::max(pattern.ghosts, 0));
    if (pattern.owned < 0 || pattern.ghosts < 0 ||
        (pattern.interleaved ? received > ghosts : received != ghosts))
        refuse(concat("of ", pattern.ghosts, " ghosts, ", received, " are received"));
    if (global_index{pattern.owned} + pattern.ghosts > 2147483647) refuse("it has too many cells");
}

// A stage sends only owned cells along its own and later dimensions, and forwards ghosts of earlier
// ones.
bool sends_owned(const BoxPiece& piece, const Box& owned, std::size_t stage, int dimensions) {
    for (int d = static_cast<int>(stage); d < dimensions; ++d)
        if (piece.cells.lo[d] < owned.lo[d] || piece.cells.hi[d] > owned.hi[d]) return false;
    return true;
}

// Where a seam maps points along one axis to another, the owner's block may have one more.
Box owned_points(const Pattern& pattern, const BoxPiece& piece) {
    Box owned = pattern.blocks[piece.block];
    for (int d = 0; d < pattern.dimensions; ++d) {
        const int axis = piece.axis(d);
        owned.hi[axis] += std::max(0, pattern.stagger.more(d) - pattern.stagger.more(axis));
    }
    return owned;
}

void check_box(const Pattern& pattern, std::size_t stage, const Link& link, const BoxPiece& piece,
               bool receives) {
    if (piece.block < 0 || piece.block >= static_cast<std::int32_t>(pattern.blocks.size()))
        refuse(link, concat("block ", piece.block, " does not exist"));
    if (!in_range(piece.cells) || !in_range(piece.owner))
        refuse(link, "coordinates are out of range");
    unsigned axes = 0;
    for (const int d : piece.turn.axes) axes |= 1u << d;
    if (piece.at_owner == receives || axes != (1u << max_dimensions) - 1)
        refuse(link, "a piece is turned in a way that there is not");
    for (global_index x : piece.shift)
        if (x < -largest_coordinate || x > largest_coordinate)
            refuse(link, "a shift is out of range");
    const Box owned = owned_points(pattern, piece);
    const std::string cells = "cells " + to_string(piece.cells, pattern.dimensions);
    if (intersect(piece.cells, grow(owned, pattern.halo, pattern.dimensions)) != piece.cells)
        refuse(link, concat(cells, " are outside of block ", piece.block, " and its halo"));
    // On a seam's line, a point held by several blocks is a ghost of all but one.
    const bool is_its = piece.turn.seam
                            ? intersect(piece.owner, owned) == piece.owner
                            : intersect(piece.cells, owned).empty() && piece.owner == owned;
    if (receives && !is_its)
        refuse(link, "received " + cells + " overwrite owned ones, or belong to another block");
    Box sent = owned;  // a wet block holds points that land above it would own
    for (int d = 0; d < pattern.dimensions && piece.turn.seam; ++d)
        sent.hi[piece.axis(d)] += pattern.stagger.more(d);
    if (!receives && !sends_owned(piece, sent, stage, pattern.dimensions))
        refuse(link, "sent " + cells + " are not owned");
}

// If two messages wrote one ghost, its value would depend on their order.
void check_disjoint(const Stage& stage) {
    struct Ghosts {
        const Link* link;
        const BoxPiece* piece;
    };
    std::vector<Ghosts> all;
    for (const Link& link : stage)
        for (const BoxPiece& piece : link.receive.boxes) all.push_back({&link, &piece});
    std::sort(all.begin(), all.end(), [](const Ghosts& a, const Ghosts& b) {
        return std::pair(a.piece->block, a.piece->cells.lo[0]) <
               std::pair(b.piece->block, b.piece->cells.lo[0]);
    });
    for (auto a = all.begin(); a != all.end(); ++a)
        for (auto b = a + 1; b != all.end() && b->piece->block == a->piece->block &&
                             b->piece->cells.lo[0] < a->piece->cells.hi[0];
             ++b)
            if (!intersect(a->piece->cells, b->piece->cells).empty())
                refuse(*b->link, "ghosts " + to_string(b->piece->cells, max_dimensions) +
                                     " are received twice");
}

void check_index(const Link& link, local_index cell, local_index lo, local_index hi) {
    if (cell < lo || cell >= hi)
        refuse(link, concat("cell ", cell, " is outside of ", lo, " … ", hi - 1));
}

void check_indices(const Pattern& pattern, const Link& link, std::vector<bool>& written) {
    if (!pattern.indexed()) return;
    for (local_index cell : link.send.cells) check_index(link, cell, 0, pattern.owned);
    for (std::size_t k = 0; k < link.send_duplicate_of.size(); ++k)
        if (link.send.cells[static_cast<std::size_t>(link.send_unique) + k] !=
            link.send.cells[link.send_duplicate_of[k]])
            refuse(link, "a repeated cell is not the one that it repeats");
    for (local_index cell : link.receive.cells) {
        check_index(link, cell, pattern.owned, pattern.owned + pattern.ghosts);
        if (written[cell - pattern.owned])
            refuse(link, concat("ghost ", cell - pattern.owned, " is received twice"));
        written[cell - pattern.owned] = true;
    }
}

void check_duplicates(const Link& link, const Selection& side, local_index unique,
                      const std::vector<local_index>& duplicate_of) {
    if (unique < 0 || static_cast<std::size_t>(unique) + duplicate_of.size() !=
                          side.cells.size() + side.boxes.size())
        refuse(link, "numbers of different and repeated cells do not add up");
    for (local_index place : duplicate_of) check_index(link, place, 0, unique);
}

// A duplicate ghost box is copied from part of its original, which must contain it.
void check_repeated_boxes(const Link& link) {
    for (std::size_t k = 0; !link.receive.boxes.empty() && k < link.receive_duplicate_of.size();
         ++k) {
        const BoxPiece& piece =
            link.receive.boxes[static_cast<std::size_t>(link.receive_unique) + k];
        const BoxPiece& first = link.receive.boxes[link.receive_duplicate_of[k]];
        const Box image = to_owner(first).inverse().after(to_owner(piece)).of(piece.cells);
        if (piece.block != first.block || intersect(image, first.cells) != image)
            refuse(link, "repeated cells lie outside of those that they repeat");
    }
}

void check_link(const Pattern& pattern, std::size_t stage, const Link& link,
                std::vector<bool>& written) {
    if (link.rank < 0 || link.rank >= pattern.communicator.size()) refuse(link, "no such rank");
    if (pattern.indexed() ? !link.send.boxes.empty() || !link.receive.boxes.empty()
                          : !link.send.cells.empty() || !link.receive.cells.empty())
        refuse(link, "it mixes boxes and indices");
    for (const BoxPiece& piece : link.send.boxes) check_box(pattern, stage, link, piece, false);
    for (const BoxPiece& piece : link.receive.boxes) check_box(pattern, stage, link, piece, true);
    check_duplicates(link, link.send, link.send_unique, link.send_duplicate_of);
    check_duplicates(link, link.receive, link.receive_unique, link.receive_duplicate_of);
    check_repeated_boxes(link);
    check_indices(pattern, link, written);
    if (link.rank == pattern.communicator.rank() && shape_of_sends(link) != shape_of_receives(link))
        refuse(link, "which is this rank itself, its two sides differ");
}

}  // namespace

void check_local(const Pattern& pattern) {
    if (pattern.dimensions < 0 || pattern.dimensions > max_dimensions)
        refuse(concat("it has ", pattern.dimensions, " dimensions"));
    pattern.indexed() ? check_cells(pattern) : check_blocks(pattern);
    std::vector<bool> written(static_cast<std::size_t>(pattern.ghosts));
    for (std::size_t s = 0; s < pattern.stages.size(); ++s) {
        const Stage& stage = pattern.stages[s];
        for (std::size_t i = 0; i < stage.size(); ++i) {
            if (i > 0 && stage[i].rank <= stage[i - 1].rank)
                refuse(stage[i], "links are not in ascending order of rank");
            check_link(pattern, s, stage[i], written);
        }
        check_disjoint(stage);
    }
}

}  // namespace parhelion

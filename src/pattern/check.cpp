// A pattern that does not fit would corrupt memory or hang: it is refused before anything moves.
#include <sstream>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {
namespace {

constexpr global_index largest_coordinate = global_index{1} << 48;

[[noreturn]] void refuse(const Link& link, const std::string& what) {
    throw Error("broken pattern, link with rank " + std::to_string(link.rank) + ": " + what +
                ": build it again from its domain");
}

void check_box(const Pattern& pattern, const Link& link, const BoxPiece& piece, bool receives) {
    if (piece.block < 0 || piece.block >= static_cast<std::int32_t>(pattern.blocks.size()))
        refuse(link, "block " + std::to_string(piece.block) + " does not exist");
    for (int d = 0; d < max_dimensions; ++d)
        for (global_index x : {piece.cells.lo[d], piece.cells.hi[d], piece.owner.lo[d], piece.owner.hi[d]})
            if (x < -largest_coordinate || x > largest_coordinate) refuse(link, "coordinates out of range");
    for (global_index x : piece.shift)
        if (x < -largest_coordinate || x > largest_coordinate) refuse(link, "shift out of range");
    const Box& owned = pattern.blocks[static_cast<std::size_t>(piece.block)];
    const Box all = grow(owned, pattern.halo, pattern.dimensions);
    if (intersect(piece.cells, all) != piece.cells)
        refuse(link, "cells " + to_string(piece.cells, pattern.dimensions) + " are outside of block " +
               std::to_string(piece.block) + " and its halo");
    if (receives && !intersect(piece.cells, owned).empty())
        refuse(link, "received cells " + to_string(piece.cells, pattern.dimensions) + " overwrite owned ones");
}

void check_index(const Link& link, local_index cell, local_index lo, local_index hi) {
    if (cell < lo || cell >= hi)
        refuse(link, "cell " + std::to_string(cell) + " is outside of " + std::to_string(lo) + " … " +
               std::to_string(hi - 1));
}

void check_duplicates(const Link& link, const Selection& side, local_index unique,
                      const std::vector<local_index>& duplicate_of) {
    if (unique < 0 || static_cast<std::size_t>(unique) + duplicate_of.size() != side.cells.size() + side.boxes.size())
        refuse(link, "numbers of different and repeated cells do not add up");
    for (local_index place : duplicate_of) check_index(link, place, 0, unique);
}

// A repeated ghost box is copied from a part of its first: that part must exist.
void check_repeated_boxes(const Link& link) {
    for (std::size_t k = 0; !link.receive.boxes.empty() && k < link.receive_duplicate_of.size(); ++k) {
        const BoxPiece& piece = link.receive.boxes[static_cast<std::size_t>(link.receive_unique) + k];
        const BoxPiece& first = link.receive.boxes[static_cast<std::size_t>(link.receive_duplicate_of[k])];
        const Box image = translate(translate(piece.cells, piece.shift), {-first.shift[0], -first.shift[1], -first.shift[2], -first.shift[3]});
        if (piece.block != first.block || intersect(image, first.cells) != image)
            refuse(link, "repeated cells lie outside of those that they repeat");
    }
}

void check_link(const Pattern& pattern, const Link& link, std::vector<bool>& written) {
    if (link.rank < 0 || link.rank >= pattern.communicator.size()) refuse(link, "no such rank");
    for (const BoxPiece& piece : link.send.boxes) check_box(pattern, link, piece, false);
    for (const BoxPiece& piece : link.receive.boxes) check_box(pattern, link, piece, true);
    if (pattern.indexed() ? !link.send.boxes.empty() || !link.receive.boxes.empty()
                          : !link.send.cells.empty() || !link.receive.cells.empty())
        refuse(link, "it mixes boxes and indices");
    check_duplicates(link, link.send, link.send_unique, link.send_duplicate_of);
    check_duplicates(link, link.receive, link.receive_unique, link.receive_duplicate_of);
    check_repeated_boxes(link);
    for (local_index cell : link.send.cells) check_index(link, cell, 0, pattern.owned);
    for (local_index cell : link.receive.cells) {
        check_index(link, cell, pattern.owned, pattern.owned + pattern.ghosts);
        if (written[static_cast<std::size_t>(cell - pattern.owned)])
            refuse(link, "ghost " + std::to_string(cell - pattern.owned) + " is received twice");
        written[static_cast<std::size_t>(cell - pattern.owned)] = true;
    }
}

// What both sides of a selection must agree on, wherever the cells lie.
void append_shape(std::vector<global_index>& words, const Selection& side, local_index unique,
                  const std::vector<local_index>& duplicate_of) {
    Hash hash;
    global_index cells = static_cast<global_index>(side.cells.size());
    for (const BoxPiece& piece : side.boxes) {
        cells += piece.cells.cells();
        for (int d = 0; d < max_dimensions; ++d) hash.add(piece.cells.extent(d));
    }
    hash.add(unique).add_range(duplicate_of);
    words.push_back(cells);
    words.push_back(static_cast<global_index>(hash.value()));
}

// Per rank and stage: stage, shape of what I send, shape of what I receive.
std::vector<Parcel> shapes(const Pattern& pattern) {
    std::vector<Parcel> parcels;
    for (std::size_t s = 0; s < pattern.stages.size(); ++s)
        for (const Link& link : pattern.stages[s]) {
            std::vector<global_index> words{static_cast<global_index>(s)};
            append_shape(words, link.send, link.send_unique, link.send_duplicate_of);
            append_shape(words, link.receive, link.receive_unique, link.receive_duplicate_of);
            parcels.push_back({link.rank, {}});
            parcels.back().append(words.data(), words.size());
        }
    return parcels;
}

void compare(const Pattern& pattern, const std::vector<Parcel>& theirs) {
    std::size_t expected = 0;
    for (const Stage& stage : pattern.stages) expected += stage.size();
    for (const Parcel& parcel : theirs) {
        const auto words = parcel.values<global_index>();
        const std::string with = "broken pattern: rank " + std::to_string(parcel.rank);
        const Link* mine = nullptr;
        if (static_cast<std::size_t>(words[0]) < pattern.stages.size())
            for (const Link& link : pattern.stages[static_cast<std::size_t>(words[0])])
                if (link.rank == parcel.rank) mine = &link;
        if (mine == nullptr) throw Error(with + " expects a link with this rank, which has none: build it again");
        std::vector<global_index> here;
        append_shape(here, mine->receive, mine->receive_unique, mine->receive_duplicate_of);
        append_shape(here, mine->send, mine->send_unique, mine->send_duplicate_of);
        for (int i = 0; i < 4; ++i)
            if (here[i] != words[i + 1])
                throw Error(with + (i < 2 ? " sends " : " expects ") + std::to_string(words[i < 2 ? 1 : 3]) +
                            " cells and this rank " + (i < 2 ? "expects " : "sends ") + std::to_string(here[i < 2 ? 0 : 2]) +
                            " (or others than meant): the parts do not belong together; build the pattern again");
    }
    if (theirs.size() != expected)
        throw Error("broken pattern: " + std::to_string(expected) + " links here, but " + std::to_string(theirs.size()) +
                    " name this rank: build it again");
}

}  // namespace

void check_local(const Pattern& pattern) {
    std::vector<bool> written(static_cast<std::size_t>(pattern.ghosts));
    for (const Stage& stage : pattern.stages) {
        for (std::size_t i = 0; i < stage.size(); ++i) {
            if (i > 0 && stage[i].rank <= stage[i - 1].rank) refuse(stage[i], "links are not in ascending order of rank");
            check_link(pattern, stage[i], written);
        }
    }
}

void verify(const Pattern& pattern) {
    validate_together(pattern.communicator, [&] { check_local(pattern); });
    const auto theirs = sparse_exchange(pattern.communicator, shapes(pattern));
    validate_together(pattern.communicator, [&] { compare(pattern, theirs); });
}

}  // namespace parhelion

#include "transport/node_aware/bundle.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

byte_count alignment_of(const Field& field) {
    return std::min<byte_count>(message_alignment,
                                field.element.size & -byte_count{field.element.size});
}

// Appends `box` without `taken` as disjoint boxes.
void add_rest(std::vector<Box>& rest, Box box, const Box& taken) {
    for (std::size_t d = 0; d < max_dimensions; ++d) {
        Box below = box, above = box;
        below.hi[d] = taken.lo[d];
        above.lo[d] = taken.hi[d];
        if (!below.empty()) rest.push_back(below);
        if (!above.empty()) rest.push_back(above);
        box.lo[d] = std::max(box.lo[d], taken.lo[d]);
        box.hi[d] = std::min(box.hi[d], taken.hi[d]);
    }
}

// Writes `box` relative to `outer`.
void put_within(Words& words, const Box& box, const Box& outer) {
    Box relative = box;
    for (std::size_t d = 0; d < max_dimensions; ++d)
        relative.lo[d] -= outer.lo[d], relative.hi[d] -= outer.lo[d];
    put_box(words, relative);
}

Coordinates extents(const Box& box) {
    Coordinates all;
    for (int d = 0; d < max_dimensions; ++d) all[d] = box.extent(d);
    return all;
}

// Copies a box inside a piece of the bundle to the ghosts of an entry.
void add_copy(Program& program, const Plan& plan, int f, const BoxPiece& entry, const Box& cells,
              const Box& piece, const Box& in_piece, byte_count begin,
              const std::vector<int>& order) {
    const Field& field = plan.fields[f];
    const BoxLayout ghosts = box_in_field(plan, f, entry, cells);
    BoxLayout shape = ghosts;
    for (int d = 0; d < shape.dims - 1; ++d) shape.count[d] = piece.extent(d);
    BoxLayout bundle = box_in_message(shape, order, field.element.size, begin);
    for (int d = 0; d < shape.dims - 1; ++d) {
        const auto i = static_cast<std::size_t>(d);
        bundle = cut(bundle, d, in_piece.lo[i], in_piece.hi[i]);
    }
    program.add(copy_between(turned(bundle, entry.turn.mirrored), ghosts, field.element,
                             is_negated(field, entry)));
}

bool exchanges_axes(const std::vector<const LinkPlan*>& links) {
    for (const LinkPlan* plan : links)
        for (const Link* link : plan->links)
            for (const BoxPiece& piece : link->send.boxes)
                if (piece.turn.exchanges_axes()) return true;
    return false;
}

}  // namespace

Bundle::Bundle(const Plan& plan, Direction direction, std::vector<const LinkPlan*> links)
    : links_(std::move(links)), direction_(direction),
      united_(direction == Direction::forward && !exchanges_axes(links_)) {
    if (!united_) add_messages();
    else add_fields(plan), plan.executor->compile(program_);
}

byte_count Bundle::alignment(const Plan& plan, Direction direction) {
    if (direction == Direction::reverse) return message_alignment;
    byte_count most = 1;
    for (const Field& field : plan.fields) most = std::max(most, alignment_of(field));
    return most;
}

// Aligns messages for vector instructions.
void Bundle::add_messages() {
    for (const LinkPlan* link : links_) {
        offsets_.push_back(aligned(bytes_));
        bytes_ = offsets_.back() + link->way(direction_).send_bytes;
    }
}

void Bundle::add_fields(const Plan& plan) {
    parts_.reserve(plan.fields.size());
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f) add_field(plan, f);
}

void Bundle::add_field(const Plan& plan, int f) {
    const Field& field = plan.fields[f];
    Part& part = parts_.emplace_back(Part{cells_of(plan, f), aligned(bytes_, alignment_of(field))});
    const Cells& cells = cells_[part.cells];
    const byte_count bytes = cells.count * bytes_per_cell(field);
    const std::vector<int> order = packing_order(field, plan.pattern_of(f).dimensions);
    for (const Piece& piece : cells.pieces) {
        const BoxLayout mine =
            box_in_field(plan, f, BoxPiece{piece.block, piece.box, {}}, piece.box);
        program_.add(copy_between(mine,
                                  box_in_message(mine, order, field.element.size,
                                                 part.begin + piece.before * bytes_per_cell(field)),
                                  field.element));
    }
    if (plan.pattern_of(f).indexed() && cells.count > 0)
        add_side_of_cells(program_, plan,
                          MessageField{f, &cells.united, cells.count, part.begin, bytes},
                          {0, cells.count}, End::owned, Into::message, part.begin, false);
    bytes_ = part.begin + bytes;
}

std::size_t Bundle::cells_of(const Plan& plan, int f) {
    const Field& field = plan.fields[f];
    const int group = plan.group_of[f];
    for (std::size_t i = 0; i < cells_.size(); ++i)
        if (cells_[i].group == group &&
            (cells_[i].halo == field.halo || plan.pattern_of(f).indexed()))
            return i;
    Cells& cells = cells_.emplace_back(Cells{group, field.halo, {}, {}, {}, {}, {}, 0});
    if (plan.pattern_of(f).indexed()) unite_lists(cells);
    else unite_boxes(plan, field, cells);
    return cells_.size() - 1;
}

// Larger boxes first: faces contain edges and corners.
void Bundle::unite_boxes(const Plan& plan, const Field& field, Cells& cells) const {
    struct Wanted {
        std::size_t link, entry;
        std::int32_t block;
        Box box;
    };
    std::vector<Wanted> all;
    cells.shares.resize(links_.size());
    cells.wanted.resize(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const Link& link = *links_[i]->links[cells.group];
        const auto entries = static_cast<std::size_t>(link.send_unique);
        cells.shares[i].resize(entries);
        for (std::size_t k = 0; k < entries; ++k) {
            const BoxPiece& piece = link.send.boxes[k];
            const Box box = clipped(piece, field, plan.patterns[cells.group]->dimensions);
            cells.wanted[i].push_back(box);
            if (!box.empty()) all.push_back({i, k, piece.block, box});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Wanted& a, const Wanted& b) {
        return a.box.cells() > b.box.cells();
    });
    for (const Wanted& wanted : all)
        share(cells, wanted.block, wanted.box, cells.shares[wanted.link][wanted.entry]);
}

// Shares existing pieces and adds new ones for the rest.
void Bundle::share(Cells& cells, std::int32_t block, const Box& wanted,
                   std::vector<Share>& shares) {
    std::vector<Box> left{wanted}, rest;
    for (std::size_t p = 0; p < cells.pieces.size() && !left.empty(); ++p) {
        if (cells.pieces[p].block != block) continue;
        rest.clear();
        for (const Box& box : left) {
            const Box both = intersect(box, cells.pieces[p].box);
            if (both.empty()) {
                rest.push_back(box);
                continue;
            }
            shares.push_back({p, both});
            add_rest(rest, box, both);
        }
        left.swap(rest);
    }
    for (const Box& box : left) {
        shares.push_back({cells.pieces.size(), box});
        cells.pieces.push_back({block, box, cells.count});
        cells.count += box.cells();
    }
}

void Bundle::unite_lists(Cells& cells) const {
    std::unordered_map<local_index, local_index> place_of;
    cells.places.resize(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const Link& link = *links_[i]->links[cells.group];
        for (std::size_t k = 0; k < static_cast<std::size_t>(link.send_unique); ++k) {
            const auto [known, is_new] = place_of.emplace(
                link.send.cells[k], static_cast<local_index>(cells.united.cells.size()));
            if (is_new) cells.united.cells.push_back(link.send.cells[k]);
            cells.places[i].push_back(known->second);
        }
    }
    cells.count = static_cast<byte_count>(cells.united.cells.size());
}

void Bundle::pack(Queue& queue, Bases arrays, std::byte* to) const {
    if (united_) return queue.enqueue(program_, arrays, &to);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        std::byte* const message = to + offsets_[i];
        const Way& way = links_[i]->way(direction_);
        if (way.send_bytes > 0) queue.enqueue(way.pack, arrays, &message);
    }
}

void Bundle::describe(Words& header, std::size_t i) const {
    header.push_back(united_);
    if (!united_) return header.push_back(offsets_[i]);
    header.push_back(static_cast<global_index>(cells_.size()));
    for (const Cells& cells : cells_) {
        header.push_back(cells.group);
        if (!cells.places.empty()) put_list(header, cells.places[i]);
        else
            for (std::size_t k = 0; k < cells.shares[i].size(); ++k) {
                header.push_back(static_cast<global_index>(cells.shares[i][k].size()));
                for (const Share& share : cells.shares[i][k]) {
                    const Piece& piece = cells.pieces[share.piece];
                    put_within(header, share.box, cells.wanted[i][k]);
                    put_within(header, share.box, piece.box);
                    put_list(header, extents(piece.box));
                    header.push_back(piece.before);
                }
            }
    }
    for (const Part& part : parts_) {
        header.push_back(static_cast<global_index>(part.cells));
        header.push_back(part.begin);
    }
}

void Bundle::forget_where() {
    for (Cells& cells : cells_)
        cells.pieces = {}, cells.shares = {}, cells.places = {}, cells.wanted = {};
}

namespace {

// One box of an entry, as written by `describe`.
struct ToldShare {
    Box cells, in_piece, piece;
    byte_count before;
};
struct ToldCells {
    std::vector<std::vector<ToldShare>> entries;
    const std::vector<local_index>* places = nullptr;
};

ToldShare read_share(WordReader& header) {
    ToldShare share{header.box(), header.box(), {}, 0};
    const std::vector<local_index> extent = header.list();
    for (std::size_t d = 0; d < max_dimensions && d < extent.size(); ++d)
        share.piece.hi[d] = extent[d];
    share.before = header.next();
    return share;
}

ToldCells read_cells(const Plan& plan, const LinkPlan& link, WordReader& header,
                     std::deque<std::vector<local_index>>& lists) {
    ToldCells cells;
    const auto group =
        header.next_in<std::size_t>(0, static_cast<global_index>(plan.patterns.size()) - 1);
    if (plan.patterns[group]->indexed()) {
        cells.places = &lists.emplace_back(header.list());
        if (cells.places->size() != static_cast<std::size_t>(link.links[group]->receive_unique))
            header.refuse("another number of cells than here");
        return cells;
    }
    cells.entries.resize(static_cast<std::size_t>(link.links[group]->receive_unique));
    for (auto& shares : cells.entries) {
        shares.resize(header.count(8));
        for (ToldShare& share : shares) share = read_share(header);
    }
    return cells;
}

// Translates a box from the owner's view to this rank's, mirrored dimensions included.
Box as_seen_here(const Box& part, const Box& all, DimensionSet mirrored) {
    Box box = part;
    for (std::size_t d = 0; mirrored >> d != 0; ++d)
        if (mirrored >> d & 1)
            box.lo[d] = all.hi[d] - all.lo[d] - part.hi[d],
            box.hi[d] = all.hi[d] - all.lo[d] - part.lo[d];
    return translate(box, all.lo);
}

void add_boxes(Program& program, const Plan& plan, int f, const LinkPlan& link,
               const ToldCells& told, byte_count begin) {
    const Field& field = plan.fields[f];
    const Pattern& pattern = plan.pattern_of(f);
    for (std::size_t k = 0; k < told.entries.size(); ++k) {
        const BoxPiece& entry = plan.link_of(link.links, f).receive.boxes[k];
        const Box all = clipped(entry, field, pattern.dimensions);
        for (const ToldShare& share : told.entries[k])
            add_copy(program, plan, f, entry, as_seen_here(share.cells, all, entry.turn.mirrored),
                     share.piece, share.in_piece, begin + share.before * bytes_per_cell(field),
                     link.orders[f]);
    }
}

}  // namespace

FromBundle Bundle::read(const Plan& plan, Direction direction, const LinkPlan& link,
                        WordReader& header, std::deque<std::vector<local_index>>& lists) {
    if (header.next() == 0) return {header.next(), link.way(direction).unpack};
    std::vector<ToldCells> told;
    for (std::size_t count = header.count(1); told.size() < count;)
        told.push_back(read_cells(plan, link, header, lists));
    FromBundle from;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f) {
        const ToldCells& cells =
            told[header.next_in<std::size_t>(0, static_cast<global_index>(told.size()) - 1)];
        const byte_count begin = header.next();
        if (cells.places == nullptr) add_boxes(from.program, plan, f, link, cells, begin);
        else if (!cells.places->empty()) {
            const Selection& ghosts = plan.link_of(link.links, f).receive;
            const MessageField at{f, &ghosts, static_cast<byte_count>(cells.places->size()), begin,
                                  0};
            add_side_of_cells(from.program, plan, at, {0, at.entries}, End::ghosts, Into::field,
                              begin, false, cells.places->data());
        }
    }
    plan.executor->compile(from.program);
    return from;
}

}  // namespace parhelion

#include "transport/node_aware/bundle.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

byte_count alignment_of(const Field& field) {
  return std::min<byte_count>(
      message_alignment, field.element.size & -byte_count{field.element.size});
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

Box relative(Box box, const Box& outer) {
  for (std::size_t d = 0; d < max_dimensions; ++d)
    box.lo[d] -= outer.lo[d], box.hi[d] -= outer.lo[d];
  return box;
}

// Translates part of `all` from the owner's view to this rank's, mirrored dimensions too.
Box as_seen_here(const Box& part, const Box& all, DimensionSet mirrored) {
  Box box = part;
  for (int d = 0; mirrored >> d != 0; ++d)
    if (has(mirrored, d))
      box.lo[d] = all.extent(d) - part.hi[d], box.hi[d] = all.extent(d) - part.lo[d];
  return translate(box, all.lo);
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
  if (!united_) {
    add_messages();
    return;
  }
  parts_.reserve(plan.fields.size());
  for (int f = 0; f < plan.field_count(); ++f) add_field(plan, f);
  plan.executor->compile(program_);
}

byte_count Bundle::alignment(const Plan& plan, Direction direction) {
  if (direction == Direction::reverse) return message_alignment;
  byte_count most = 1;
  for (const Field& field : plan.fields) most = std::max(most, alignment_of(field));
  return most;
}

// Aligned for vector instructions.
void Bundle::add_messages() {
  for (const LinkPlan* link : links_) {
    offsets_.push_back(aligned(bytes_));
    bytes_ = offsets_.back() + link->way(direction_).send_bytes;
  }
}

void Bundle::add_field(const Plan& plan, int f) {
  const Field& field = plan.fields[f];
  Part& part = parts_.emplace_back(Part{cells_of(plan, f), aligned(bytes_, alignment_of(field))});
  const Cells& cells = cells_[part.cells];
  const byte_count bytes = cells.count * bytes_per_cell(field);
  const std::vector<int> order = packing_order(field, plan.pattern_of(f).dimensions);
  for (const Cells::Piece& piece : cells.pieces) {
    const BoxLayout mine = box_in_field(plan, f, BoxPiece{piece.block, piece.box, {}}, piece.box);
    program_.add(copy_between(mine,
        box_in_message(
            mine, order, field.element.size, part.begin + piece.before * bytes_per_cell(field)),
        field.element));
  }
  if (plan.pattern_of(f).indexed() && cells.count > 0)
    add_side_of_cells(program_, plan,
        MessageField{f, &cells.united, cells.count, part.begin, bytes}, {0, cells.count},
        End::owned, Into::message, part.begin);
  bytes_ = part.begin + bytes;
}

std::size_t Bundle::cells_of(const Plan& plan, int f) {
  const Field& field = plan.fields[f];
  const int group = plan.group_of[f];
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (cells_[i].group == group && (cells_[i].halo == field.halo || plan.pattern_of(f).indexed()))
      return i;
  Cells& cells = cells_.emplace_back(Cells{group, field.halo, {}, {}, {}});
  cells.where.resize(links_.size());
  if (plan.pattern_of(f).indexed()) unite_lists(cells);
  else unite_boxes(plan, f, cells);
  return cells_.size() - 1;
}

// Larger boxes first: faces contain edges and corners.
void Bundle::unite_boxes(const Plan& plan, int f, Cells& cells) const {
  struct Wanted {
    std::vector<Share>* shares;
    std::int32_t block;
    Box box;
  };
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = *links_[i]->links[cells.group];
    auto& shares = cells.where[i].shares;
    shares.resize(link.send_unique);
    for (local_index k = 0; k < link.send_unique; ++k) {
      const BoxPiece& piece = link.send.boxes[k];
      const Box box = clipped(plan, f, piece);
      if (!box.empty()) all.push_back({&shares[k], piece.block, box});
    }
  }
  std::ranges::stable_sort(
      all, [](const Wanted& a, const Wanted& b) { return a.box.cells() > b.box.cells(); });
  for (const Wanted& wanted : all) share(cells, wanted.block, wanted.box, *wanted.shares);
}

// Shares existing pieces; adds new ones for the rest.
void Bundle::share(
    Cells& cells, std::int32_t block, const Box& wanted, std::vector<Share>& shares) {
  const auto add = [&](const Box& box, const Cells::Piece& piece) {
    shares.push_back({relative(box, wanted), relative(box, piece.box),
        relative(piece.box, piece.box), piece.before});
  };
  std::vector<Box> left{wanted}, rest;
  for (const Cells::Piece& piece : cells.pieces) {
    if (left.empty()) break;
    if (piece.block != block) continue;
    rest.clear();
    for (const Box& box : left) {
      const Box both = intersect(box, piece.box);
      if (both.empty()) {
        rest.push_back(box);
        continue;
      }
      add(both, piece);
      add_rest(rest, box, both);
    }
    left.swap(rest);
  }
  for (const Box& box : left) {
    cells.pieces.push_back({block, box, cells.count});
    add(box, cells.pieces.back());
    cells.count += box.cells();
  }
}

void Bundle::unite_lists(Cells& cells) const {
  std::unordered_map<local_index, local_index> place_of;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = *links_[i]->links[cells.group];
    for (local_index k = 0; k < link.send_unique; ++k) {
      const auto [known, is_new] =
          place_of.emplace(link.send.cells[k], static_cast<local_index>(cells.united.cells.size()));
      if (is_new) cells.united.cells.push_back(link.send.cells[k]);
      cells.where[i].places.push_back(known->second);
    }
  }
  cells.count = cells.united.cells.size();
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
  header.push_back(cells_.size());
  for (const Cells& cells : cells_) {
    const Where& where = cells.where[i];
    put_list(header, where.places);
    header.push_back(where.shares.size());
    for (const auto& shares : where.shares) {
      header.push_back(shares.size());
      for (const Share& share : shares) {
        for (const Box* box : {&share.cells, &share.in_piece, &share.piece}) put_box(header, *box);
        header.push_back(share.before);
      }
    }
  }
  for (const Part& part : parts_) {
    header.push_back(part.cells);
    header.push_back(part.begin);
  }
}

void Bundle::forget_where() {
  for (Cells& cells : cells_) cells.pieces = {}, cells.where = {};
}

void Bundle::add_boxes(Program& program, const Plan& plan, int f, const LinkPlan& link,
    const Where& where, byte_count begin) {
  const Field& field = plan.fields[f];
  for (std::size_t k = 0; k < where.shares.size(); ++k) {
    const BoxPiece& entry = plan.link_of(link.links, f).receive.boxes[k];
    const Box all = clipped(plan, f, entry);
    for (const Share& share : where.shares[k]) {
      const BoxLayout ghosts =
          box_in_field(plan, f, entry, as_seen_here(share.cells, all, entry.turn.mirrored));
      BoxLayout piece = ghosts;
      for (int d = 0; d < piece.dims - 1; ++d) piece.count[d] = share.piece.extent(d);
      BoxLayout bundle = box_in_message(
          piece, link.orders[f], field.element.size, begin + share.before * bytes_per_cell(field));
      for (int d = 0; d < piece.dims - 1; ++d)
        bundle = cut(bundle, d, share.in_piece.lo[d], share.in_piece.hi[d]);
      program.add(copy_between(
          turned(bundle, entry.turn.mirrored), ghosts, field.element, is_negated(field, entry)));
    }
  }
}

FromBundle Bundle::read(const Plan& plan, Direction direction, const LinkPlan& link,
    WordReader& header, std::deque<std::vector<local_index>>& lists) {
  if (header.next() == 0) return {header.next(), link.way(direction).unpack};
  const std::size_t first = lists.size();
  std::vector<Where> told(header.next<std::size_t>());
  for (Where& where : told) {
    lists.push_back(header.list());
    where.shares.resize(header.next<std::size_t>());
    for (auto& shares : where.shares) {
      shares.resize(header.next<std::size_t>());
      for (Share& share : shares) share = {header.box(), header.box(), header.box(), header.next()};
    }
  }
  FromBundle from;
  for (int f = 0; f < plan.field_count(); ++f) {
    const auto number = header.next<std::size_t>();
    const byte_count begin = header.next();
    add_boxes(from.program, plan, f, link, told[number], begin);
    const std::vector<local_index>& places = lists[first + number];
    if (places.empty()) continue;
    const MessageField at{
        f, &plan.link_of(link.links, f).receive, static_cast<byte_count>(places.size()), begin, 0};
    add_side_of_cells(
        from.program, plan, at, {0, at.entries}, End::ghosts, Into::field, begin, places.data());
  }
  plan.executor->compile(from.program);
  return from;
}

}  // namespace parhelion

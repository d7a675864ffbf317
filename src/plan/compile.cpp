#include "plan/compile.hpp"

#include "plan/layout.hpp"

namespace parhelion {
namespace {

// Index cells of a field lie in two places: owned cells at base 0, ghosts at base 1 of the field. A selection lies
// wholly in one of them; subtracting the first ghost's number lets ghost indices be used as they are.
struct CellsLayout {
    int base;
    byte_count offset;
    byte_count stride;
    byte_count component_stride;
    const local_index* list;
};

CellsLayout cells_in_field(const Plan& plan, int f, const Selection& side, bool ghosts) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    const byte_count stride = field.blocks[ghosts].strides[0];
    const int base = plan.first_base[static_cast<std::size_t>(f)] + (ghosts ? 1 : 0);
    return {base, ghosts ? -byte_count{plan.pattern->owned} * stride : 0, stride, field.stride_of_components(ghosts),
            side.cells.data()};
}

// Components next to each other are one piece; otherwise one op per component.
template <class Emit>
void for_components(const Field& field, const CellsLayout& from, const CellsLayout& to, Emit&& emit) {
    const byte_count size = field.element.size;
    const bool joined = field.components == 1 || (from.component_stride == size && to.component_stride == size);
    if (joined) return emit(size * field.components, 0, 0);
    for (byte_count c = 0; c < field.components; ++c) emit(size, c * from.component_stride, c * to.component_stride);
}

void add_cells(Program& program, const Field& field, const CellsLayout& from, const CellsLayout& to, byte_count cells,
               bool keep_order) {
    for_components(field, from, to, [&](byte_count width, byte_count src, byte_count dst) {
        const IndexedOp op{from.base, to.base, from.offset + src, to.offset + dst, width, cells, from.stride, to.stride,
                           from.list, to.list, field.element.scalar};
        if (keep_order) program.add_plain(op);
        else program.add(op);
    });
}

int base_of(const Plan& plan, int f, bool ghosts) { return plan.first_base[static_cast<std::size_t>(f)] + (ghosts ? 1 : 0); }

// Rows of different sizes between a ragged field and its part of the message, which begins at `offset`.
void add_rows(Program& program, const Plan& plan, int f, const Selection& side, byte_count entries, bool ghosts, Into into,
              byte_count offset) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    const int base = base_of(plan, f, ghosts);
    RunsOp op{into == Into::message ? base : 0, into == Into::message ? 0 : base, {}, field.element.scalar};
    for (byte_count k = 0; k < entries; ++k) {
        const RowSpan row = row_span(plan, field, side.cells[static_cast<std::size_t>(k)]);
        op.add(into == Into::message ? Run{row.first, offset, row.bytes} : Run{offset, row.first, row.bytes});
        offset += row.bytes;
    }
    program.add(std::move(op));
}

// Rows of this rank that are its own ghosts, or the other way round.
void add_straight_rows(Program& program, const Plan& plan, int f, const Selection& from, const Selection& to,
                       byte_count entries, bool from_ghosts) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    RunsOp op{base_of(plan, f, from_ghosts), base_of(plan, f, !from_ghosts), {}, field.element.scalar};
    for (std::size_t k = 0; k < static_cast<std::size_t>(entries); ++k) {
        const RowSpan source = row_span(plan, field, from.cells[k]);
        op.add({source.first, row_span(plan, field, to.cells[k]).first, source.bytes});
    }
    program.add(std::move(op));
}

}  // namespace

void add_side_of_cells(Program& program, const Plan& plan, int f, const Selection& side, Entries entries, bool ghosts,
                       Into into, byte_count begin, bool keep_order) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    if (field.ragged()) return add_rows(program, plan, f, side, entries.end, ghosts, into, begin);
    CellsLayout mine = cells_in_field(plan, f, side, ghosts);
    mine.list += entries.first;
    const byte_count count = entries.end - entries.first;
    const CellsLayout message{0, begin, bytes_per_cell(field), field.element.size, nullptr};
    if (into == Into::message) add_cells(program, field, mine, message, count, keep_order);
    else add_cells(program, field, message, mine, count, keep_order);
}

namespace {

// Program between the cells of one side and the message, for all fields.
Program compile_side(const Plan& plan, const Selection& side, byte_count entries, bool ghosts, Into into, bool keep_order,
                     const std::vector<std::vector<int>>* orders) {
    Program program;
    byte_count offset = 0;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f) {
        const Field& field = plan.fields[static_cast<std::size_t>(f)];
        const byte_count begin = offset;
        if (plan.pattern->indexed()) add_side_of_cells(program, plan, f, side, {0, entries}, ghosts, into, begin, keep_order);
        const auto order = orders ? (*orders)[static_cast<std::size_t>(f)] : packing_order(field, plan.pattern->dimensions);
        byte_count at = begin;
        for (byte_count k = 0; !plan.pattern->indexed() && k < entries; ++k) {
            const BoxPiece& piece = side.boxes[static_cast<std::size_t>(k)];
            const Box box = clipped(piece, field, plan.pattern->dimensions);
            const BoxLayout mine = box_in_field(plan, f, piece, box);
            const BoxLayout message = box_in_message(mine, order, field.element.size, at);
            program.add(into == Into::message ? copy_between(mine, message, field.element)
                                              : copy_between(message, mine, field.element));
            at += box.cells() * bytes_per_cell(field);
        }
        offset = aligned(begin + message_bytes(plan, f, side, entries));
    }
    return program;
}

byte_count total_bytes(const Plan& plan, const Selection& side, byte_count entries) {
    byte_count total = 0;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f)
        total = aligned(total) + message_bytes(plan, f, side, entries);
    return total;
}

void repeat_rows(Program& program, const Plan& plan, int f, const Link& link) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    RunsOp op{base_of(plan, f, true), base_of(plan, f, true), {}, field.element.scalar};
    auto entry = static_cast<std::size_t>(link.receive_unique);
    for (local_index first : link.receive_duplicate_of) {
        const RowSpan source = row_span(plan, field, link.receive.cells[static_cast<std::size_t>(first)]);
        op.add({source.first, row_span(plan, field, link.receive.cells[entry++]).first, source.bytes});
    }
    program.add(std::move(op));
}

void repeat_cells(Program& program, const Plan& plan, int f, const Link& link) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    const CellsLayout ghosts = cells_in_field(plan, f, link.receive, true);
    const auto place = [&](local_index entry) { return ghosts.offset + ghosts.list[entry] * ghosts.stride; };
    local_index entry = link.receive_unique;
    for (local_index first : link.receive_duplicate_of) {
        for_components(field, ghosts, ghosts, [&](byte_count width, byte_count src, byte_count dst) {
            program.add(StridedOp{ghosts.base, ghosts.base, place(first) + src, place(entry) + dst, width, 0, {}, {}, {},
                                  field.element.scalar});
        });
        ++entry;
    }
}

void repeat_boxes(Program& program, const Plan& plan, int f, const Link& link) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    std::size_t entry = static_cast<std::size_t>(link.receive_unique);
    for (local_index first : link.receive_duplicate_of) {
        const BoxPiece& piece = link.receive.boxes[entry++];
        const BoxPiece& source = link.receive.boxes[static_cast<std::size_t>(first)];
        const Box box = clipped(piece, field, plan.pattern->dimensions);
        Coordinates back{};
        for (int d = 0; d < max_dimensions; ++d) back[d] = piece.shift[d] - source.shift[d];
        program.add(copy_between(box_in_field(plan, f, source, translate(box, back)), box_in_field(plan, f, piece, box),
                                 field.element));
    }
}

// Ghosts → the ghosts that repeat them, within the same field.
Program compile_repeat(const Plan& plan, const Link& link) {
    Program program;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f)
        if (plan.fields[static_cast<std::size_t>(f)].ragged()) repeat_rows(program, plan, f, link);
        else plan.pattern->indexed() ? repeat_cells(program, plan, f, link) : repeat_boxes(program, plan, f, link);
    return program;
}

byte_count entries_of(const Selection& side) {
    return static_cast<byte_count>(side.boxes.size() + side.cells.size());
}

}  // namespace

MessageSizes message_sizes(const Plan& plan, const Selection& side, local_index unique) {
    return {total_bytes(plan, side, unique), total_bytes(plan, side, entries_of(side))};
}

byte_count mean_ghost_piece(const Plan& plan, const Link& link) {
    return compile_side(plan, link.receive, link.receive_unique, true, Into::field, false, nullptr).mean_piece();
}

void compile_link(const Plan& plan, LinkPlan& link_plan) {
    const Link& link = *link_plan.link;
    const auto sends = message_sizes(plan, link.send, link.send_unique);
    const auto receives = message_sizes(plan, link.receive, link.receive_unique);
    const auto all_sends = entries_of(link.send);
    const auto all_receives = entries_of(link.receive);
    link_plan.forward = {sends.forward, receives.forward,
        compile_side(plan, link.send, link.send_unique, false, Into::message, false, nullptr),
        compile_side(plan, link.receive, link.receive_unique, true, Into::field, false, &link_plan.orders)};
    link_plan.reverse = {receives.reverse, sends.reverse,
        compile_side(plan, link.receive, all_receives, true, Into::message, false, nullptr),
        compile_side(plan, link.send, all_sends, false, Into::field, true, &link_plan.orders)};
    link_plan.repeat = compile_repeat(plan, link);
}

Program compile_straight(const Plan& from_plan, const Selection& from, const Plan& to_plan, const Selection& to,
                         byte_count entries, bool keep_order) {
    Program program;
    const int dimensions = from_plan.pattern->dimensions;
    for (int f = 0; f < static_cast<int>(from_plan.fields.size()); ++f) {
        const Field& from_field = from_plan.fields[static_cast<std::size_t>(f)];
        const Field& to_field = to_plan.fields[static_cast<std::size_t>(f)];
        if (from_field.ragged())
            add_straight_rows(program, from_plan, f, from, to, entries, keep_order);  // within one plan only
        else if (dimensions == 0)
            add_cells(program, from_field, cells_in_field(from_plan, f, from, keep_order),
                      cells_in_field(to_plan, f, to, !keep_order), entries, keep_order);
        for (std::size_t k = 0; dimensions > 0 && k < static_cast<std::size_t>(entries); ++k) {
            const Box source = clipped(from.boxes[k], from_field, dimensions);
            const Box target = clipped(to.boxes[k], to_field, dimensions);
            program.add(copy_between(box_in_field(from_plan, f, from.boxes[k], source),
                                     box_in_field(to_plan, f, to.boxes[k], target), from_field.element));
        }
    }
    return program;
}

Program compile_ghosts(const Plan& plan, const Link& link) {
    return compile_side(plan, link.receive, entries_of(link.receive), true, Into::message, false, nullptr);
}

byte_count ghost_bytes(const Plan& plan, const Link& link) {
    return total_bytes(plan, link.receive, entries_of(link.receive));
}

SelfPlan compile_self(const Plan& plan, const Link& link) {
    return {compile_straight(plan, link.send, plan, link.receive, link.send_unique, false), compile_repeat(plan, link),
            compile_straight(plan, link.receive, plan, link.send, entries_of(link.send), true)};
}

}  // namespace parhelion

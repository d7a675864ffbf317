#include "parhelion/plan/part.hpp"

#include <algorithm>

#include "plan/layout.hpp"

namespace parhelion {
namespace {

struct Range {
    global_index first, last;
    bool holds(global_index at) const { return first <= at && at < last; }
};

Range share(global_index count, int part, int parts) { return {count * part / parts, count * (part + 1) / parts}; }

int slowest_dimension(const Plan& plan, const Pattern& pattern, int group) {
    const auto first = std::find(plan.group_of.begin(), plan.group_of.end(), group);
    if (pattern.indexed() || first == plan.group_of.end()) return 0;
    for (const int d : packing_order(plan.fields[static_cast<std::size_t>(first - plan.group_of.begin())], pattern.dimensions))
        if (d < pattern.dimensions) return d;
    return 0;
}

void add_boxes(Program& program, const Plan& plan, const MessageField& in_message, int part) {
    const Field& field = plan.fields[static_cast<std::size_t>(in_message.f)];
    const Pattern& pattern = plan.pattern_of(in_message.f);
    const auto order = packing_order(field, pattern.dimensions);
    byte_count at = in_message.begin;
    for (std::size_t k = 0; k < static_cast<std::size_t>(in_message.entries); ++k) {
        const BoxPiece& piece = in_message.side->boxes[k];
        const Box box = clipped(piece, field, pattern.dimensions);
        const BoxLayout mine = box_in_field(plan, in_message.f, piece, box);
        const BoxLayout message = box_in_message(mine, order, field.element.size, at);
        at += box.cells() * bytes_per_cell(field);
        const PartOfBlock cells = part_of_block(plan, part, piece.block, plan.group_of[static_cast<std::size_t>(in_message.f)]);
        const auto d = static_cast<std::size_t>(cells.dimension);
        const global_index start = pattern.blocks[static_cast<std::size_t>(piece.block)].lo[d] - box.lo[d];
        // Later stages of the staged algorithm pass on ghosts beyond both ends.
        const global_index first = part == 0 ? 0 : std::max<global_index>(start + cells.first, 0);
        const global_index end = box.extent(cells.dimension), last = part == plan.parts - 1 ? end : std::min(start + cells.last, end);
        if (first >= last) continue;
        program.add(copy_between(cut(mine, cells.dimension, first, last), cut(message, cells.dimension, first, last), field.element));
    }
}

// Cell by cell: neighbors in the list that are neighbors in memory become one run.
void add_cells(Program& program, const Plan& plan, const MessageField& in_message, Range part) {
    const Field& field = plan.fields[static_cast<std::size_t>(in_message.f)];
    const Pattern& pattern = plan.pattern_of(in_message.f);
    const byte_count stride = field.blocks[0].strides[0], apart = field.stride_of_components(0), size = field.element.size;
    const bool joined = field.components == 1 || apart == size;
    const byte_count pieces = joined ? 1 : field.components, bytes = joined ? bytes_per_cell(field) : size;
    RunsOp op{plan.first_base[static_cast<std::size_t>(in_message.f)], 0, {}, field.element.scalar};
    byte_count at = in_message.begin;
    for (std::size_t k = 0; k < static_cast<std::size_t>(in_message.entries); ++k) {
        const local_index cell = in_message.side->cells[k];
        const RowSpan row = field.ragged() ? row_span(pattern, field, cell) : RowSpan{};
        if (field.ragged() && part.holds(cell)) op.add({row.first, at, row.bytes});
        for (byte_count c = 0; !field.ragged() && part.holds(cell) && c < pieces; ++c)
            op.add({cell * stride + c * apart, at + c * size, bytes});
        at += field.ragged() ? row.bytes : bytes_per_cell(field);
    }
    program.add(std::move(op));
}

}  // namespace

PartOfBlock part_of_block(const Plan& plan, int part, int block, int group) {
    const Pattern& pattern = *plan.patterns[static_cast<std::size_t>(group)];
    const int d = slowest_dimension(plan, pattern, group);
    const global_index cells = pattern.indexed() ? pattern.owned : pattern.blocks[static_cast<std::size_t>(block)].extent(d);
    const Range range = share(cells, part, plan.parts);
    return {d, static_cast<local_index>(range.first), static_cast<local_index>(range.last)};
}

Program pack_part(const Plan& plan, const Links& links, int part) {
    Program program;
    for (const MessageField& at : message_layout(plan, links, End::owned, Direction::forward).fields) {
        const Pattern& pattern = plan.pattern_of(at.f);
        if (pattern.indexed()) add_cells(program, plan, at, share(pattern.owned, part, plan.parts));
        else add_boxes(program, plan, at, part);
    }
    return program;
}

}  // namespace parhelion

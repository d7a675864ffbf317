#include "plan/compile.hpp"

#include <algorithm>

#include "parhelion/plan/executor.hpp"
#include "pattern/axis_map.hpp"

namespace parhelion {
namespace {

int base_of(const Plan& plan, int f, bool ghosts) { return plan.first_base[f] + (ghosts ? 1 : 0); }

// Index-map fields have two bases: owned cells, ghosts. A selection lies in one; `offset` subtracts
// the first ghost's number, so that lists apply unchanged.
struct CellsLayout {
    int base;
    byte_count offset;
    byte_count stride;
    byte_count component_stride;
    const local_index* list;
};

CellsLayout cells_in_field(const Plan& plan, int f, const Selection& side, bool ghosts) {
    const Field& field = plan.fields[f];
    const byte_count stride = field.blocks[ghosts].strides[0];
    return {base_of(plan, f, ghosts), ghosts ? -byte_count{plan.pattern_of(f).owned} * stride : 0,
            stride, field.stride_of_components(ghosts), side.cells.data()};
}

// Emits one op if components are contiguous, else one per component.
template <class Emit>
void for_components(const Field& field, const CellsLayout& from, const CellsLayout& to,
                    Emit&& emit) {
    const byte_count size = field.element.size;
    const bool joined =
        field.components == 1 || (from.component_stride == size && to.component_stride == size);
    if (joined) return emit(size * field.components, 0, 0);
    for (byte_count c = 0; c < field.components; ++c)
        emit(size, c * from.component_stride, c * to.component_stride);
}

void add_cells(Program& program, const Field& field, const CellsLayout& from, const CellsLayout& to,
               byte_count cells, bool keep_order) {
    for_components(field, from, to, [&](byte_count width, byte_count src, byte_count dst) {
        const IndexedOp op{from.base, to.base, from.offset + src,   to.offset + dst,
                           width,     cells,   from.stride,         to.stride,
                           from.list, to.list, field.element.scalar};
        if (keep_order) program.add_plain(op);
        else program.add(op);
    });
}

}  // namespace

void add_side_of_cells(Program& program, const Plan& plan, const MessageField& at, Entries entries,
                       End end, Into into, byte_count begin, bool keep_order,
                       const local_index* places) {
    const Field& field = plan.fields[at.f];
    const bool ghosts = end == End::ghosts;
    CellsLayout mine = cells_in_field(plan, at.f, *at.side, ghosts);
    mine.list += entries.first;
    const byte_count count = entries.end - entries.first;
    const CellsLayout message{0, begin, bytes_per_cell(field), field.element.size, places};
    if (into == Into::message) add_cells(program, field, mine, message, count, keep_order);
    else add_cells(program, field, message, mine, count, keep_order);
}

namespace {

// First cell of one side of a field's ops.
struct Origin {
    int base;
    byte_count offset;
};

// Copies the ops of one field to similar fields: same lists, other origins.
class Again {
    struct Mark {
        std::size_t strided = 0, indexed = 0, runs = 0;
    };
    struct Entry {
        std::size_t number;
        Origin src, dst;
        Mark first, end;
    };

public:
    explicit Again(Program& program) : program_(program) {}

    // Copies the ops of field `number`; false if they were not recorded.
    bool add(std::size_t number, Origin src, Origin dst) {
        const auto found = std::find_if(all_.begin(), all_.end(),
                                        [&](const Entry& each) { return each.number == number; });
        if (found == all_.end()) return false;
        const auto repeat = [&](auto& ops, std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i)
                ops.push_back(moved(ops[i], *found, src, dst));
        };
        const Entry entry = *found;
        repeat(program_.strided, entry.first.strided, entry.end.strided);
        repeat(program_.indexed, entry.first.indexed, entry.end.indexed);
        repeat(program_.runs, entry.first.runs, entry.end.runs);
        return true;
    }

    // Records the ops that are added during its lifetime as those of field `number`.
    class Recording {
    public:
        Recording(Again& again, std::size_t number, Origin src, Origin dst)
            : again_(again), entry_{number, src, dst, again.here(), {}} {
            again_.all_.reserve(again_.all_.size() + 1);  // the destructor must not throw
        }
        ~Recording() {
            entry_.end = again_.here();
            again_.all_.push_back(entry_);
        }
        Recording(const Recording&) = delete;
        Recording& operator=(const Recording&) = delete;

    private:
        Again& again_;
        Entry entry_;
    };

private:
    Mark here() const {
        return {program_.strided.size(), program_.indexed.size(), program_.runs.size()};
    }
    template <class Op>
    static Op moved(Op op, const Entry& from, Origin src, Origin dst) {
        op.src_base += src.base - from.src.base;
        op.dst_base += dst.base - from.dst.base;
        op.src += src.offset - from.src.offset;
        op.dst += dst.offset - from.dst.offset;
        return op;
    }

    Program& program_;
    std::vector<Entry> all_;
};

void add_boxes(Program& program, const Plan& plan, const MessageField& at,
               const std::vector<int>& order, End end, Into into) {
    const Field& field = plan.fields[at.f];
    byte_count offset = at.begin;
    for (byte_count k = 0; k < at.entries; ++k) {
        const BoxPiece& piece = at.side->boxes[k];
        const Box box = clipped(piece, field, plan.pattern_of(at.f).dimensions);
        const BoxLayout mine = box_in_field(plan, at.f, piece, box);
        const BoxLayout message = box_in_message(mine, order, field.element.size, offset);
        const bool negated = end == End::ghosts && is_negated(field, piece);
        program.add(into == Into::message ? copy_between(mine, message, field.element, negated)
                                          : copy_between(message, mine, field.element, negated));
        offset += box.cells() * bytes_per_cell(field);
    }
}

// Program between the cells of one end and the message.
Program compile_end(const Plan& plan, const MessageLayout& layout, Into into, bool keep_order,
                    const std::vector<std::vector<int>>* orders) {
    Program program;
    if (keep_order) program.dependence = Dependence::destination;
    Again again(program);
    for (const MessageField& at : layout.fields) {
        const auto f = static_cast<std::size_t>(at.f);
        const Pattern& pattern = plan.pattern_of(at.f);
        const auto first = static_cast<std::size_t>(plan.like[f]);
        const Origin field{plan.first_base[f], 0}, message{0, at.begin};
        const bool same_order =
            orders == nullptr || pattern.indexed() || (*orders)[f] == (*orders)[first];
        if (same_order && again.add(first, into == Into::message ? field : message,
                                    into == Into::message ? message : field))
            continue;
        const Again::Recording recording(again, same_order ? first : f,
                                         into == Into::message ? field : message,
                                         into == Into::message ? message : field);
        if (pattern.indexed())
            add_side_of_cells(program, plan, at, {0, at.entries}, layout.end, into, at.begin,
                              keep_order);
        else
            add_boxes(program, plan, at,
                      orders ? (*orders)[f] : packing_order(plan.fields[f], pattern.dimensions),
                      layout.end, into);
    }
    return program;
}

void repeat_cells(Program& program, const Plan& plan, int f, const Link& link) {
    const Field& field = plan.fields[f];
    const CellsLayout ghosts = cells_in_field(plan, f, link.receive, true);
    const auto place = [&](local_index entry) {
        return ghosts.offset + ghosts.list[entry] * ghosts.stride;
    };
    local_index entry = link.receive_unique;
    for (local_index first : link.receive_duplicate_of) {
        for_components(field, ghosts, ghosts,
                       [&](byte_count width, byte_count src, byte_count dst) {
                           program.add(StridedOp{ghosts.base,
                                                 ghosts.base,
                                                 place(first) + src,
                                                 place(entry) + dst,
                                                 width,
                                                 0,
                                                 {},
                                                 {},
                                                 {},
                                                 field.element.scalar});
                       });
        ++entry;
    }
}

void repeat_boxes(Program& program, const Plan& plan, int f, const Link& link) {
    const Field& field = plan.fields[f];
    std::size_t entry = static_cast<std::size_t>(link.receive_unique);
    for (local_index first : link.receive_duplicate_of) {
        const BoxPiece& piece = link.receive.boxes[entry++];
        const BoxPiece& source = link.receive.boxes[first];
        const Box box = clipped(piece, field, plan.pattern_of(f).dimensions);
        const AxisMap back = to_owner(source).inverse().after(to_owner(piece));
        program.add(copy_between(turned(box_in_field(plan, f, source, back.of(box)), back.mirrored),
                                 box_in_field(plan, f, piece, box), field.element,
                                 is_negated(field, piece) != is_negated(field, source)));
    }
}

// Copies ghosts to their duplicates within the same field.
Program compile_repeat(const Plan& plan, const Links& links) {
    Program program;
    Again again(program);
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f) {
        const auto first = static_cast<std::size_t>(plan.like[f]);
        const Origin field{plan.first_base[f], 0};
        if (again.add(first, field, field)) continue;
        const Again::Recording recording(again, first, field, field);
        const Link& link = plan.link_of(links, f);
        plan.pattern_of(f).indexed() ? repeat_cells(program, plan, f, link)
                                     : repeat_boxes(program, plan, f, link);
    }
    return program;
}

Links without(Links links, const std::vector<bool>& wrapped) {
    for (std::size_t g = 0; g < links.size(); ++g)
        if (wrapped[g]) links[g] = &no_link;
    return links;
}

struct DirectEnd {
    const Plan& plan;
    const Links& links;
    End end;
    const Selection& side(int f) const { return selection_of(plan.link_of(links, f), end); }
    const Field& field(int f) const { return plan.fields[f]; }
};

void direct_boxes(Program& program, int f, const DirectEnd& from, const DirectEnd& to,
                  byte_count entries) {
    const int dimensions = from.plan.pattern_of(f).dimensions;
    for (std::size_t k = 0; k < static_cast<std::size_t>(entries); ++k) {
        const BoxPiece &source = from.side(f).boxes[k], &target = to.side(f).boxes[k];
        program.add(copy_between(
            box_in_field(from.plan, f, source, clipped(source, from.field(f), dimensions)),
            box_in_field(to.plan, f, target, clipped(target, to.field(f), dimensions)),
            from.field(f).element, is_negated(from.field(f), source)));
    }
}

Program compile_direct(const DirectEnd& from, const DirectEnd& to, Direction direction) {
    Program program;
    const bool from_ghosts = from.end == End::ghosts;
    if (from_ghosts) program.dependence = Dependence::destination;
    Again again(program);
    for (int f = 0; f < static_cast<int>(from.plan.fields.size()); ++f) {
        const auto i = static_cast<std::size_t>(f),
                   first = static_cast<std::size_t>(from.plan.like[i]);
        const Origin here{from.plan.first_base[i], 0}, there{to.plan.first_base[i], 0};
        const bool alike = to.plan.like[i] == from.plan.like[i];
        if (alike && again.add(first, here, there)) continue;
        const Again::Recording recording(again, alike ? first : i, here, there);
        const byte_count entries =
            entries_of(from.plan.link_of(from.links, f), from.end, direction);
        if (from.plan.pattern_of(f).indexed())
            add_cells(program, from.field(f),
                      cells_in_field(from.plan, f, from.side(f), from_ghosts),
                      cells_in_field(to.plan, f, to.side(f), !from_ghosts), entries, from_ghosts);
        else direct_boxes(program, f, from, to, entries);
    }
    return program;
}

}  // namespace

MessageSizes message_sizes(const Plan& plan, const Links& links, End end) {
    return {message_layout(plan, links, end, Direction::forward).bytes(),
            message_layout(plan, links, end, Direction::reverse).bytes()};
}

byte_count mean_ghost_piece(const Plan& plan, const Links& links) {
    return compile_end(plan, message_layout(plan, links, End::ghosts, Direction::forward),
                       Into::field, false, nullptr)
        .mean_piece();
}

namespace {

// Groups in `wrapped` fill their periodic copies by add_wrap.
void compile_link(const Plan& plan, LinkPlan& link, const std::vector<bool>& wrapped) {
    const auto compile = [&](Direction direction, End source, End destination) {
        const bool keep_order = direction == Direction::reverse;
        const auto sent = message_layout(plan, link.links, source, direction);
        const auto received = message_layout(plan, link.links, destination, direction);
        return Way{sent.bytes(), received.bytes(),
                   compile_end(plan, sent, Into::message, false, nullptr),
                   compile_end(plan, received, Into::field, keep_order, &link.orders)};
    };
    link.forward = compile(Direction::forward, End::owned, End::ghosts);
    link.reverse = compile(Direction::reverse, End::ghosts, End::owned);
    link.repeat = compile_repeat(plan, without(link.links, wrapped));
}

// Direct copies from this rank's cells into its own ghosts; reverse: back.
void compile_self(const Plan& plan, SelfPlan& self, const std::vector<bool>& wrapped) {
    const Links unwrapped = without(self.links, wrapped);
    self.forward = compile_direct({plan, unwrapped, End::owned}, {plan, unwrapped, End::ghosts},
                                  Direction::forward);
    self.repeat = compile_repeat(plan, unwrapped);
    self.reverse = compile_direct({plan, self.links, End::ghosts}, {plan, self.links, End::owned},
                                  Direction::reverse);
}

bool equal_blocks(const BlockView& a, const BlockView& b) {
    return a.strides == b.strides && a.component_stride == b.component_stride;
}

bool alike(const Plan& plan, std::size_t f, std::size_t g) {
    const Field &a = plan.fields[f], &b = plan.fields[g];
    if (f == g) return true;
    return plan.group_of[f] == plan.group_of[g] && a.element == b.element &&
           a.components == b.components && a.component_stride == b.component_stride &&
           a.halo == b.halo && a.sign == b.sign && a.vector == 0 && b.vector == 0 &&
           std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                      equal_blocks);
}

}  // namespace

void index_likes(Plan& plan) {
    for (std::size_t f = 0; f < plan.fields.size(); ++f) {
        std::size_t first = 0;
        while (!alike(plan, first, f)) ++first;
        plan.like.push_back(static_cast<int>(first));
    }
}

void index_fields(Plan& plan) {
    for (const Field& field : plan.fields) {
        plan.first_base.push_back(static_cast<int>(plan.bases.size()));
        for (const BlockView& block : field.blocks) plan.bases.push_back(block.first);
    }
    index_likes(plan);
}

namespace {

template <class Use>
void for_programs(StagePlan& stage, Use&& use) {
    for (LinkPlan& link : stage.links)
        for (Program* each : {&link.forward.pack, &link.forward.unpack, &link.repeat,
                              &link.reverse.pack, &link.reverse.unpack})
            use(*each);
    if (stage.self)
        for (Program* each : {&stage.self->forward, &stage.self->repeat, &stage.self->reverse})
            use(*each);
    use(stage.wrap_owned), use(stage.wrap);
}

}  // namespace

void compile_stage(Plan& plan, std::size_t number) {
    StagePlan& stage = plan.stages[number];
    std::vector<bool> wrapped(plan.patterns.size());
    for (std::size_t g = 0; number == 0 && g < wrapped.size(); ++g)
        wrapped[g] = add_wrap(stage, plan, static_cast<int>(g));
    for (LinkPlan& link : stage.links) compile_link(plan, link, wrapped);
    if (stage.self) compile_self(plan, *stage.self, wrapped);
    for_programs(stage, [&](Program& program) { plan.executor->compile(program); });
}

Program compile_direct(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                       const Links& holder) {
    return compile_direct({owner_plan, owner, End::owned}, {holder_plan, holder, End::ghosts},
                          Direction::forward);
}

Program compile_combining(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                          const Links& holder) {
    return compile_direct({holder_plan, holder, End::ghosts}, {owner_plan, owner, End::owned},
                          Direction::reverse);
}

Program compile_pack(const Plan& plan, const MessageLayout& layout,
                     const std::vector<std::vector<int>>* orders) {
    return compile_end(plan, layout, Into::message, false, orders);
}

byte_count ghost_bytes(const Plan& plan, const Links& links) {
    return message_layout(plan, links, End::ghosts, Direction::reverse).bytes();
}

}  // namespace parhelion

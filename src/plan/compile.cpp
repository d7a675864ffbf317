#include "plan/compile.hpp"

#include <algorithm>
#include <map>

#include "parhelion/plan/executor.hpp"
#include "pattern/axis_map.hpp"

namespace parhelion {
namespace {

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
  return {plan.base_of(f, ghosts), ghosts ? -byte_count{plan.pattern_of(f).owned} * stride : 0,
      stride, field.stride_of_components(ghosts), side.cells.data()};
}

// One op if components are contiguous, else one per component.
template <class Emit>
void for_components(
    const Field& field, const CellsLayout& from, const CellsLayout& to, Emit&& emit) {
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
    const IndexedOp op{from.base, to.base, from.offset + src, to.offset + dst, width, cells,
        from.stride, to.stride, from.list, to.list, field.element.scalar};
    if (keep_order) program.add_plain(op);
    else program.add(op);
  });
}

// Reverse messages combine in order.
bool combines(End end, Into into) { return end == End::owned && into == Into::field; }

}  // namespace

void add_side_of_cells(Program& program, const Plan& plan, const MessageField& at, Entries entries,
    End end, Into into, byte_count begin, const local_index* places) {
  const Field& field = plan.fields[at.f];
  const bool ghosts = end == End::ghosts, keep_order = combines(end, into);
  CellsLayout mine = cells_in_field(plan, at.f, *at.side, ghosts);
  mine.list += entries.first;
  const byte_count count = entries.end - entries.first;
  const CellsLayout message{0, begin, bytes_per_cell(field), field.element.size, places};
  if (into == Into::message) add_cells(program, field, mine, message, count, keep_order);
  else add_cells(program, field, message, mine, count, keep_order);
}

byte_count add_side_of_boxes(Program& program, const Plan& plan, const MessageField& at,
    const std::vector<int>& order, End end, Into into, byte_count begin,
    const std::array<Slice, 2>& slices) {
  const Field& field = plan.fields[at.f];
  byte_count bytes = 0;
  for (byte_count k = 0; k < at.entries; ++k) {
    const BoxPiece& piece = at.side->boxes[k];
    BoxLayout mine = box_in_field(plan, at.f, piece);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const int d = order[i];  // of two or more: components are one
      const auto [which, of] = slices[i];
      const byte_count rows = mine.count[d];
      mine = cut(mine, d, rows * which / of, rows * (which + 1) / of);
    }
    const BoxLayout message = box_in_message(mine, order, field.element.size, begin + bytes);
    const bool negated = end == End::ghosts && is_negated(field, piece);
    program.add(into == Into::message ? copy_between(mine, message, field.element, negated)
                                      : copy_between(message, mine, field.element, negated));
    bytes += mine.values() * field.element.size;
  }
  return bytes;
}

namespace {

struct Origin {
  int base;
  byte_count offset;
};

// Similar fields have the same ops with other origins, and share lists.
class ByField {
 public:
  // `compile` adds the ops of field `number` to a program the first time.
  template <class Compile>
  void add(Program& all, int number, Origin src, Origin dst, Compile&& compile) {
    const auto [found, is_new] = known_.try_emplace(number, Known{{}, src, dst});
    Known& known = found->second;
    if (is_new) compile(known.program);
    const auto append = [&](auto& to, const auto& ops) {
      for (auto op : ops) {
        op.src_base += src.base - known.src.base;
        op.dst_base += dst.base - known.dst.base;
        op.src += src.offset - known.src.offset;
        op.dst += dst.offset - known.dst.offset;
        to.push_back(std::move(op));
      }
    };
    append(all.strided, known.program.strided);
    append(all.indexed, known.program.indexed);
    append(all.runs, known.program.runs);
  }

 private:
  struct Known {
    Program program;
    Origin src, dst;
  };
  std::map<int, Known> known_;
};

}  // namespace

Program compile_end(const Plan& plan, const MessageLayout& layout, Into into,
    const std::vector<std::vector<int>>* orders) {
  Program program;
  if (combines(layout.end, into)) program.dependence = Dependence::destination;
  ByField by_field;
  for (const MessageField& at : layout.fields) {
    const int f = at.f, first = plan.like[f];
    const Pattern& pattern = plan.pattern_of(f);
    const Origin field{plan.first_base[f], 0}, message{0, at.begin};
    const bool same_order =
        orders == nullptr || pattern.indexed() || (*orders)[f] == (*orders)[first];
    by_field.add(program, same_order ? first : f, into == Into::message ? field : message,
        into == Into::message ? message : field, [&](Program& own) {
          if (pattern.indexed())
            add_side_of_cells(own, plan, at, {0, at.entries}, layout.end, into, at.begin);
          else
            add_side_of_boxes(own, plan, at,
                orders ? (*orders)[f] : packing_order(plan.fields[f], pattern.dimensions),
                layout.end, into, at.begin);
        });
  }
  return program;
}

namespace {

void repeat_cells(Program& program, const Plan& plan, int f, const Link& link) {
  const Field& field = plan.fields[f];
  const CellsLayout ghosts = cells_in_field(plan, f, link.receive, true);
  const auto place = [&](local_index entry) {
    return ghosts.offset + ghosts.list[entry] * ghosts.stride;
  };
  local_index entry = link.receive_unique;
  for (local_index first : link.receive_duplicate_of) {
    for_components(field, ghosts, ghosts, [&](byte_count width, byte_count src, byte_count dst) {
      program.add(StridedOp{ghosts.base, ghosts.base, place(first) + src, place(entry) + dst, width,
          0, {}, {}, {}, field.element.scalar});
    });
    ++entry;
  }
}

void repeat_boxes(Program& program, const Plan& plan, int f, const Link& link) {
  const Field& field = plan.fields[f];
  std::size_t entry = link.receive_unique;
  for (local_index first : link.receive_duplicate_of) {
    const BoxPiece& piece = link.receive.boxes[entry++];
    const BoxPiece& source = link.receive.boxes[first];
    const Box box = clipped(plan, f, piece);
    const AxisMap back = to_owner(source).inverse().after(to_owner(piece));
    program.add(copy_between(turned(box_in_field(plan, f, source, back.of(box)), back.mirrored),
        box_in_field(plan, f, piece, box), field.element,
        is_negated(field, piece) != is_negated(field, source)));
  }
}

// Copies ghosts to their duplicates.
Program compile_repeat(const Plan& plan, const Links& links) {
  Program program;
  ByField by_field;
  for (int f = 0; f < plan.field_count(); ++f) {
    const Origin field{plan.first_base[f], 0};
    const Link& link = plan.link_of(links, f);
    by_field.add(program, plan.like[f], field, field, [&](Program& own) {
      plan.pattern_of(f).indexed() ? repeat_cells(own, plan, f, link)
                                   : repeat_boxes(own, plan, f, link);
    });
  }
  return program;
}

Links without(Links links, const std::vector<bool>& wrapped) {
  for (std::size_t g = 0; g < links.size(); ++g)
    if (wrapped[g]) links[g] = &no_link;
  return links;
}

void direct_boxes(
    Program& program, int f, const LinksEnd& from, const LinksEnd& to, byte_count entries) {
  const Field& field = from.plan.fields[f];
  for (byte_count k = 0; k < entries; ++k) {
    const BoxPiece &source = from.side(f).boxes[k], &target = to.side(f).boxes[k];
    program.add(copy_between(box_in_field(from.plan, f, source), box_in_field(to.plan, f, target),
        field.element, is_negated(field, source)));
  }
}

}  // namespace

Program compile_direct(const LinksEnd& from, const LinksEnd& to) {
  Program program;
  const bool from_ghosts = from.end == End::ghosts;
  if (from_ghosts) program.dependence = Dependence::destination;
  ByField by_field;
  for (int f = 0; f < from.plan.field_count(); ++f) {
    const int first = from.plan.like[f];
    const Origin here{from.plan.first_base[f], 0}, there{to.plan.first_base[f], 0};
    const byte_count entries = entries_of(from.plan.link_of(from.links, f), from.end,
        from_ghosts ? Direction::reverse : Direction::forward);
    by_field.add(program, to.plan.like[f] == first ? first : f, here, there, [&](Program& own) {
      if (from.plan.pattern_of(f).indexed())
        add_cells(own, from.plan.fields[f], cells_in_field(from.plan, f, from.side(f), from_ghosts),
            cells_in_field(to.plan, f, to.side(f), !from_ghosts), entries, from_ghosts);
      else direct_boxes(own, f, from, to, entries);
    });
  }
  return program;
}

namespace {

// Groups in `wrapped` fill their periodic copies by add_wrap.
void compile_link(const Plan& plan, LinkPlan& link, const std::vector<bool>& wrapped) {
  const auto compile = [&](Direction direction, End source, End destination) {
    const auto sent = message_layout(plan, link.links, source, direction);
    const auto received = message_layout(plan, link.links, destination, direction);
    return Way{sent.bytes(), received.bytes(), compile_end(plan, sent, Into::message),
        compile_end(plan, received, Into::field, &link.orders)};
  };
  link.forward = compile(Direction::forward, End::owned, End::ghosts);
  link.reverse = compile(Direction::reverse, End::ghosts, End::owned);
  link.repeat = compile_repeat(plan, without(link.links, wrapped));
  for (Program* each : {&link.forward.pack, &link.forward.unpack, &link.repeat, &link.reverse.pack,
           &link.reverse.unpack})
    plan.executor->compile(*each);
}

// Copies this rank's cells into its own ghosts; reverse: back.
void compile_self(const Plan& plan, SelfPlan& self, const std::vector<bool>& wrapped) {
  const Links unwrapped = without(self.links, wrapped);
  self.forward = compile_direct({plan, unwrapped, End::owned}, {plan, unwrapped, End::ghosts});
  self.repeat = compile_repeat(plan, unwrapped);
  self.reverse = compile_direct({plan, self.links, End::ghosts}, {plan, self.links, End::owned});
  for (Program* each : {&self.forward, &self.repeat, &self.reverse}) plan.executor->compile(*each);
}

void compile_stage(const Plan& plan, StagePlan& stage, bool is_first) {
  std::vector<bool> wrapped(plan.patterns.size());
  for (std::size_t g = 0; is_first && g < wrapped.size(); ++g)
    wrapped[g] = add_wrap(stage, plan, g);
  for (LinkPlan& link : stage.links) compile_link(plan, link, wrapped);
  if (stage.self) compile_self(plan, *stage.self, wrapped);
  for (Program* each : {&stage.wrap_owned, &stage.wrap}) plan.executor->compile(*each);
}

bool equal_blocks(const BlockView& a, const BlockView& b) {
  return a.strides == b.strides && a.component_stride == b.component_stride;
}

bool alike(const Plan& plan, int f, int g) {
  const Field &a = plan.fields[f], &b = plan.fields[g];
  if (f == g) return true;
  return plan.group_of[f] == plan.group_of[g] && a.element == b.element &&
         a.components == b.components && a.component_stride == b.component_stride &&
         a.halo == b.halo && a.sign == b.sign && a.vector == 0 && b.vector == 0 &&
         std::equal(
             a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(), equal_blocks);
}

}  // namespace

void index_likes(Plan& plan) {
  for (int f = 0; f < plan.field_count(); ++f) {
    int first = 0;
    while (!alike(plan, first, f)) ++first;
    plan.like.push_back(first);
  }
}

void index_fields(Plan& plan) {
  for (const Field& field : plan.fields) {
    plan.first_base.push_back(plan.bases.size());
    for (const BlockView& block : field.blocks) plan.bases.push_back(block.first);
  }
  index_likes(plan);
}

void compile_stages(Plan& plan) {
  for (StagePlan& stage : plan.stages) compile_stage(plan, stage, &stage == &plan.stages.front());
}

byte_count ghost_bytes(const Plan& plan, const Links& links) {
  return message_layout(plan, links, End::ghosts, Direction::reverse).bytes();
}

}  // namespace parhelion

// Compiles links and fields to programs.
#pragma once

#include "plan/layout.hpp"

namespace parhelion {

/// Fills `bases`, `first_base` and `like`.
void index_fields(Plan& plan);

/// Fills `Plan::like` alone.
void index_likes(Plan& plan);

/// Merges the links of the patterns' stages by neighbor; compiles nothing.
void merge_stages(Plan& plan);

/// Fills the programs and sizes of all stages; neighbors pack in `LinkPlan::orders`.
void compile_stages(Plan& plan);

enum class Into { message, field };

/// Cells [first, end) of a selection.
struct Entries {
  byte_count first, end;
};

/// Slice `which` of `of` equal ones.
struct Slice {
  byte_count which = 0, of = 1;
};

/// Adds copies between entries of an indexed field's selection and a message from byte `begin`,
/// whose cells are contiguous, or at the indices `places`.
void add_side_of_cells(Program& program, const Plan& plan, const MessageField& at, Entries entries,
    End end, Into into, byte_count begin, const local_index* places = nullptr);

/// For boxes, packed in `order`: slices along the message's two outermost dimensions. Returns their
/// bytes.
byte_count add_side_of_boxes(Program& program, const Plan& plan, const MessageField& at,
    const std::vector<int>& order, End end, Into into, byte_count begin,
    const std::array<Slice, 2>& slices = {});

/// Copies between the cells of one end and the message, packed in this rank's orders, or the
/// neighbor's.
Program compile_end(const Plan& plan, const MessageLayout& layout, Into into,
    const std::vector<std::vector<int>>* orders = nullptr);

struct LinksEnd {
  const Plan& plan;
  const Links& links;
  End end;
  const Selection& side(int f) const { return selection_of(plan.link_of(links, f), end); }
};

/// Copies without a message: owned cells into ghosts, each unique entry once; or all ghosts into
/// owned cells, in message order.
Program compile_direct(const LinksEnd& from, const LinksEnd& to);

/// Adds copies to `wrap_owned` and `wrap` that fill a group's ghosts along dimensions in which the
/// rank's only block neighbors only itself, one after another, each over the full width of the
/// previous ones: long pieces instead of one per edge and corner. `wrap` also reads other ranks'
/// ghosts. False for other patterns. Local.
bool add_wrap(StagePlan& stage, const Plan& plan, int group);

}  // namespace parhelion

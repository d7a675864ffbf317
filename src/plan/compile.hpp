// Compiles links and fields to programs.
#pragma once

#include "parhelion/plan/plan.hpp"
#include "plan/layout.hpp"

namespace parhelion {

/// Fills `bases`, `first_base` and `like` of a plan from its fields.
void index_fields(Plan& plan);

/// Fills `Plan::like`.
void index_likes(Plan& plan);

/// Fills the programs and sizes of a stage; neighbors pack in `LinkPlan::orders`.
void compile_stage(Plan& plan, std::size_t number);

/// Merges the links of the patterns' stages by neighbor; compiles nothing.
void merge_stages(Plan& plan);

/// Compiles all stages once every link knows its neighbor's packing orders.
void compile_stages(Plan& plan);

enum class Into { message, field };

/// Cells [`first`, `end`) of a selection.
struct Entries {
    byte_count first, end;
};

/// Adds the copies of one indexed field between entries of a selection and a message from byte
/// `begin`. Message cells are contiguous, or at the indices `places`.
void add_side_of_cells(Program& program, const Plan& plan, const MessageField& at, Entries entries,
                       End end, Into into, byte_count begin, bool keep_order,
                       const local_index* places = nullptr);

/// Packs a message, whose boxes have the packing orders `orders` (null: this rank's).
Program compile_pack(const Plan& plan, const MessageLayout& layout,
                     const std::vector<std::vector<int>>* orders = nullptr);

/// Bytes of the forward and the reverse message of one end of a neighbor's links.
struct MessageSizes {
    byte_count forward, reverse;
};
MessageSizes message_sizes(const Plan& plan, const Links& links, End end);

/// Mean size, in bytes, of the contiguous pieces of a neighbor's ghosts; 0 if nothing is received.
byte_count mean_ghost_piece(const Plan& plan, const Links& links);

/// Direct copies of the owned cells of `owner` into the ghosts of `holder`, the opposite ends of
/// the same links. Each unique entry once.
Program compile_direct(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                       const Links& holder);

/// The reverse copies: all ghosts of `holder` into the owner's cells, in message order.
Program compile_combining(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                          const Links& holder);

/// Adds copies to `wrap_owned` and `wrap` that fill a group's ghosts along each dimension in which
/// the rank's only block has no neighbor but itself. One dimension after another, over the full
/// width of the previous ones: long pieces instead of one per edge and corner. `wrap` also reads
/// ghosts of other ranks; contiguous pieces are not split. Returns false and adds nothing for other
/// patterns. Local.
bool add_wrap(StagePlan& stage, const Plan& plan, int group);

}  // namespace parhelion

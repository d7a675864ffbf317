// Links × fields → programs.
#pragma once

#include "parhelion/plan/plan.hpp"
#include "plan/layout.hpp"

namespace parhelion {

/// Fills what of a plan follows from its fields: bases, and which fields are alike.
void index_fields(Plan& plan);

/// Fills `Plan::like`.
void index_likes(Plan& plan);

/// Fills the programs and sizes of a stage, whose neighbors pack in `LinkPlan::orders`.
void compile_stage(Plan& plan, std::size_t number);

/// Links by neighbor from the patterns' stages, nothing of which is compiled yet.
void merge_stages(Plan& plan);

/// Fills the programs of all stages, when every link knows the orders in which its neighbor packs.
void compile_stages(Plan& plan);

enum class Into { message, field };

/// Some of a selection's cells, from `first` to before `end`.
struct Entries {
    byte_count first, end;
};

/// Adds the copies of one indexed field between entries of a selection and a message, at `begin`
/// there. Entries lie in the message one after another, or where `places` says, in cells.
void add_side_of_cells(Program& program, const Plan& plan, const MessageField& at, Entries entries,
                       End end, Into into, byte_count begin, bool keep_order,
                       const local_index* places = nullptr);

/// The cells of a message → the message, whose boxes are packed in these orders (null: in those of
/// this rank).
Program compile_pack(const Plan& plan, const MessageLayout& layout,
                     const std::vector<std::vector<int>>* orders = nullptr);

/// Bytes of the forward and the reverse message of one end of a neighbor's links.
struct MessageSizes {
    byte_count forward, reverse;
};
MessageSizes message_sizes(const Plan& plan, const Links& links, End end);

/// Mean number of bytes of a neighbor's ghosts that lie together here; 0 when nothing is received.
byte_count mean_ghost_piece(const Plan& plan, const Links& links);

/// Direct copies of what `owner` sends into the ghosts of `holder`, whose links are the other
/// ends of the owner's. Every unique entry once.
Program compile_direct(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                       const Links& holder);

/// The way back, for a reverse exchange: all of the holder's ghosts into the owner's cells, in the
/// order of a message's.
Program compile_combining(const Plan& owner_plan, const Links& owner, const Plan& holder_plan,
                          const Links& holder);

/// Adds to the stage's `wrap_owned` and `wrap` copies that fill every ghost of the group that is an
/// image along a dimension in which the rank's only block has no neighbor but itself. Dimension
/// after dimension, each over the full width of those before: long pieces instead of one per edge
/// and corner. What depends on owned cells alone is apart from what needs the ghosts of other
/// ranks, but where these continue the pieces that lie together in memory: those stay whole. False,
/// and nothing added, when the group's pattern is of another kind. Local.
bool add_wrap(StagePlan& stage, const Plan& plan, int group);

}  // namespace parhelion

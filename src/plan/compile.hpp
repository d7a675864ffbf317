// Selections × fields → programs.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Fills the programs and sizes of a link whose neighbor packs in `link_plan.orders`.
void compile_link(const Plan& plan, LinkPlan& link_plan);

enum class Into { message, field };

/// Some of a selection's cells, from `first` to before `end`. Of ragged rows only all from 0.
struct Entries { byte_count first, end; };

/// Adds the copies of one indexed field between entries of a selection and a message, at `begin` there.
void add_side_of_cells(Program& program, const Plan& plan, int f, const Selection& side, Entries entries, bool ghosts,
                       Into into, byte_count begin, bool keep_order);

/// Bytes of the forward and the reverse message of one side of a link.
struct MessageSizes { byte_count forward, reverse; };
MessageSizes message_sizes(const Plan& plan, const Selection& side, local_index unique);

/// Mean number of bytes of a link's ghosts that lie together here; 0 when it receives nothing.
byte_count mean_ghost_piece(const Plan& plan, const Link& link);

/// Straight copies between two selections of equal shape, the first in the fields of `from`, the second in those of `to`.
/// Direction forward: every unique entry once; reverse: every entry, kept in order for reductions.
Program compile_straight(const Plan& from_plan, const Selection& from, const Plan& to_plan, const Selection& to,
                         byte_count entries, bool keep_order);

}  // namespace parhelion

// A program's copies, by one thread or by several.
#pragma once

#include "parhelion/plan/plan.hpp"
#include "plan/copy_team.hpp"

namespace parhelion {

/// Slice `part` of `parts` of an op; slices of all parts together copy what the op does. It may be empty (no bytes).
StridedOp slice(const StridedOp& op, int part, int parts);
IndexedOp slice(const IndexedOp& op, int part, int parts);

/// As run, by the interpreter of the plan's memory; on the host by the members of the plan's team where there is one and the program is large enough. Ops that depend on the ones before
/// them (`in_turn`) are finished by all before the next begins.
void run_shared(const Plan& plan, const Program& program, Bases src, Bases dst, bool in_turn = false);
/// As reduce, by the interpreter of the plan's memory.
void reduce_own(const Plan& plan, const Program& program, Bases src, Bases dst, Reduction reduction);

}  // namespace parhelion

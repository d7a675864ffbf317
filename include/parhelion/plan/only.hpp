// Subsets of an exchange: some fields, a smaller depth, or faces only.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/short_list.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// The part of an exchange to move. Fields are numbered from 0, group after group, as passed;
/// arrays named in a call follow the order of this list. `depth`: number of ghost layers next to
/// the owned cells to fill (reverse: give back), per dimension and side, 0 if omitted. Fields with
/// a narrower halo keep their width; index maps have no depth. Owned layers beyond an end
/// (Boundary::owned) all travel next to an inner border, whatever the depth.
///
///     Only{.fields = {0, 2}, .depth = 1}
///     Only{.depth = {{1, 0}, {0, 0}}}         // one layer at the lower side of x
///     Only{.neighbors = Neighbors::faces}
struct Only {
  static constexpr int as_made = -1;
  ShortList<int, 16> fields = {};  ///< empty: all
  HaloWidth depth = as_made;
  Neighbors neighbors = Neighbors::full;  ///< faces: no ghosts at edges or corners
  friend bool operator==(const Only&, const Only&) = default;
};

/// The subset with all fields and widths explicit, for the functions below. Local. Throws Error for
/// unknown or repeated fields, depths below 0 or beyond the halos, and faces of fields on points or
/// of index maps.
Only resolve(const Plan& plan, const Only& only);
/// Whether the subset is all that the plan moves, in the plan's order.
bool is_all(const Plan& plan, const Only& resolved);
/// "fields 0, 2 to a depth of 1 × 1", for messages, with the original exchange's field `numbers`.
std::string to_string(const Plan& plan, const Only& resolved, const std::vector<int>& numbers);

/// The plan of a subset. Local: both ends of each link compile the same messages.
Plan plan_of(const Plan& whole, const Only& resolved);

}  // namespace parhelion

// A subset of what an exchange moves: some of its fields, ghosts less deep, or faces alone.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/short_list.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// What of an exchange is moved. Fields are numbered from 0, group after group, as they were
/// passed; arrays that are named at a call come in the order of this list. A depth is how many of
/// the ghosts next to the owned cells are filled (reverse: given back), per dimension and side, 0
/// on one that is left out: fields with a narrower halo stay as they are, index maps have none.
/// Layers beyond an owned end (Boundary::owned) are owned cells: all of them travel beside an inner
/// border, whatever the depth.
///
///     Only{.fields = {0, 2}, .depth = 1}
///     Only{.depth = {{1, 0}, {0, 0}}}         // one layer at the lower side of x
///     Only{.neighbors = Neighbors::faces}
struct Only {
    static constexpr int as_made = -1;
    ShortList<int, 16> fields = {};  ///< none: all of them
    HaloWidth depth = as_made;
    Neighbors neighbors = Neighbors::full;  ///< faces: none of the ghosts beyond two sides or more
    friend bool operator==(const Only&, const Only&) = default;
};

/// The same with all fields and widths told, for the functions below, not for another `resolve`.
/// Local. Throws Error for numbers that no field has or that are there twice, and for depths below
/// 0 or beyond the halos of the fields; for faces of fields that live on points or of index maps.
Only resolve(const Plan& plan, const Only& only);
/// Whether it is all that the plan moves, in that order.
bool is_all(const Plan& plan, const Only& resolved);
/// "fields 0, 2 to a depth of 1 × 1", for messages; fields by the numbers that they have in the
/// exchange that it all began with.
std::string to_string(const Plan& plan, const Only& resolved, const std::vector<int>& numbers);

/// The plan of a subset, which follows from the whole: both ends of each link compile it alike.
/// Local.
Plan plan_of(const Plan& whole, const Only& resolved);

}  // namespace parhelion

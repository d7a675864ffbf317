// Whether cells share memory.
#pragma once

#include <array>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// The bytes from `first` + Σ i·stride on, `width` of them, for all 0 ≤ i < count.
struct Footprint {
    static constexpr int most_dims = StridedOp::most_dims;
    byte_count first = 0, width = 0;
    int dims = 0;
    std::array<byte_count, most_dims> count{}, stride{};
};

/// Whether a byte belongs to both; whether one belongs to two different points. Decided exactly, as
/// a bounded linear equation in whole numbers, which for arrays takes a few steps per dimension:
/// those of a larger stride leave little choice for the others. Strides can be made up for which it
/// takes forever; after a million steps the answer is no.
bool overlap(const Footprint& a, const Footprint& b);
bool overlaps_itself(const Footprint& cells);

/// Throws Error when an exchange of these fields would touch a byte as part of two cells: of two
/// fields, of two blocks of one, of owned cells and ghosts, or of one block whose strides fold onto
/// themselves. What counts are the cells that the exchange can read or write, which are owned ones
/// and ghosts that it fills, and their real strides: components of one array that take turns in
/// memory may be fields of their own. Null pointers and blocks without cells share nothing. `bases`
/// tells where the arrays are. Local.
void check_disjoint(const Plan& plan, Bases bases);

}  // namespace parhelion

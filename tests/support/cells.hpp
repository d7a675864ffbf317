// What a structured halo should hold, from global coordinates alone: nothing here looks at a pattern.
#pragma once

#include <optional>
#include <vector>

#include "parhelion/parhelion.hpp"

namespace test {

using namespace parhelion;

template <class Visit>
void for_each_cell(const Box& box, Visit&& visit) {
    Coordinates x;
    for (x[0] = box.lo[0]; x[0] < box.hi[0]; ++x[0])
        for (x[1] = box.lo[1]; x[1] < box.hi[1]; ++x[1])
            for (x[2] = box.lo[2]; x[2] < box.hi[2]; ++x[2])
                for (x[3] = box.lo[3]; x[3] < box.hi[3]; ++x[3]) visit(static_cast<const Coordinates&>(x));
}

inline bool contains(const Box& box, const Coordinates& x) {
    for (int d = 0; d < max_dimensions; ++d)
        if (x[d] < box.lo[d] || x[d] >= box.hi[d]) return false;
    return true;
}

/// The cell whose value belongs into ghost `x` of a block that owns `owned`; empty when nobody has it, or nobody sends it.
inline std::optional<Coordinates> source_of(const CartesianDomain& domain, const Box& owned, Coordinates x) {
    int sides = 0;
    for (int d = 0; d < domain.dimensions(); ++d) {
        sides += x[d] < owned.lo[d] || x[d] >= owned.hi[d];
        const global_index extent = domain.axis(d).extent;
        if (domain.axis(d).periodic) x[d] = (x[d] % extent + extent) % extent;
        else if (x[d] < 0 || x[d] >= extent) return {};
    }
    if (sides == 0 || (domain.neighbors() == Neighbors::faces && sides > 1)) return {};
    return x;
}

/// A block of any rank.
struct AnyBlock {
    int rank, block;
    Box owned;
};

inline std::vector<AnyBlock> all_blocks(const CartesianDomain& domain) {
    Box positions;
    for (int d = 0; d < domain.dimensions(); ++d) positions.hi[d] = domain.axis(d).blocks();
    std::vector<AnyBlock> blocks;
    for_each_cell(positions, [&](const Coordinates& at) {
        AnyBlock block{};
        std::array<int, max_dimensions> position{};
        for (int d = 0; d < domain.dimensions(); ++d) {
            position[d] = static_cast<int>(at[d]);
            block.owned.lo[d] = domain.axis(d).starts[at[d]];
            block.owned.hi[d] = domain.axis(d).starts[at[d] + 1];
        }
        const auto place = domain.place_of(position);
        block.rank = place.rank;
        block.block = place.block;
        blocks.push_back(block);
    });
    return blocks;
}

}  // namespace test

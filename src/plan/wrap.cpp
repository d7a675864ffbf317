#include "plan/wrap.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "plan/layout.hpp"

namespace parhelion {
namespace {

using Offset = std::array<int, max_dimensions>;  // of a ghost region: before (−1), beside (0) or behind (1) the owned cells

// The ghosts at an offset, as wide as `halo` says.
Box region(const Box& owned, const HaloWidth& halo, const Offset& offset, int dimensions) {
    Box box = owned;
    for (int d = 0; d < dimensions; ++d) {
        if (offset[d] < 0) box.lo[d] = owned.lo[d] - halo.lower[d], box.hi[d] = owned.lo[d];
        if (offset[d] > 0) box.lo[d] = owned.hi[d], box.hi[d] = owned.hi[d] + halo.upper[d];
    }
    return box;
}

// Empty for a piece that is not the whole of one region.
std::optional<Offset> offset_of(const Pattern& pattern, const Box& cells) {
    const Box& owned = pattern.blocks.front();
    Offset offset{};
    for (int d = 0; d < pattern.dimensions; ++d) offset[d] = cells.hi[d] <= owned.lo[d] ? -1 : cells.lo[d] >= owned.hi[d] ? 1 : 0;
    if (cells != region(owned, pattern.halo, offset, pattern.dimensions)) return {};
    return offset;
}

// Who owns the region at each offset; nothing when some piece is no region.
std::optional<std::map<Offset, int>> owners_of(const Pattern& pattern, const Stage& stage) {
    std::map<Offset, int> owners;
    for (const Link& link : stage)
        for (const BoxPiece& piece : link.receive.boxes) {
            const auto offset = offset_of(pattern, piece.cells);
            if (!offset || !owners.emplace(*offset, link.rank).second) return {};
        }
    return owners;
}

// Dimensions with images of this rank on both sides where there is a halo, a whole extent away.
std::vector<int> own_dimensions(const Pattern& pattern, const Stage& stage) {
    const int rank = pattern.communicator.rank();
    Offset images{};
    for (const Link& link : stage)
        for (const BoxPiece& piece : link.receive.boxes) {
            int along = 0, d = 0, beside = 0;
            for (int each = 0; each < pattern.dimensions; ++each)
                if (piece.shift[each] != 0) along = each, ++d;
                else beside += piece.cells.lo[each] != pattern.blocks[0].lo[each];
            const global_index extent = pattern.blocks[0].extent(along);
            if (link.rank == rank && d == 1 && beside == 0 && (piece.shift[along] == extent || piece.shift[along] == -extent))
                ++images[along];
        }
    std::vector<int> own;
    for (int d = 0; d < pattern.dimensions; ++d) {
        const int sides = (pattern.halo.lower[d] > 0) + (pattern.halo.upper[d] > 0);
        if (sides > 0 && images[d] == sides) own.push_back(d);
    }
    return own;
}

// Whether going on along the own dimensions from a region leads to regions of the same owner everywhere, and to nothing else.
bool images_are_complete(const Pattern& pattern, const std::map<Offset, int>& owners, const std::vector<int>& own) {
    std::map<Offset, int> expected;
    const auto spread = [&](auto&& self, Offset offset, int owner, std::size_t next) -> void {
        if (next == own.size()) {
            if (offset != Offset{}) expected[offset] = owner;
            return;
        }
        const int d = own[next];
        for (const int side : {-1, 0, 1}) {
            if ((side < 0 && pattern.halo.lower[d] == 0) || (side > 0 && pattern.halo.upper[d] == 0)) continue;
            offset[d] = side;
            self(self, offset, owner, next + 1);
        }
    };
    spread(spread, Offset{}, pattern.communicator.rank(), 0);
    for (const auto& [offset, owner] : owners) {
        bool beside = true;
        for (const int d : own) beside = beside && offset[d] == 0;
        if (beside) spread(spread, offset, owner, 0);
    }
    return expected == owners;
}

// Widths of the ghosts that come from other ranks, for a field with a halo of its own.
HaloWidth reach(const std::map<Offset, int>& owners, const HaloWidth& halo, int dimensions) {
    HaloWidth width = 0;
    for (const auto& [offset, owner] : owners)
        for (int d = 0; d < dimensions; ++d) {
            if (offset[d] < 0) width.lower[d] = halo.lower[d];
            if (offset[d] > 0) width.upper[d] = halo.upper[d];
        }
    return width;
}

void wrap_field(Program& program, const Plan& plan, int f, std::vector<int> own, const std::map<Offset, int>& owners) {
    const Field& field = plan.fields[static_cast<std::size_t>(f)];
    const Pattern& pattern = plan.pattern_of(f);
    const int dimensions = pattern.dimensions;
    const Box& owned = pattern.blocks.front();
    HaloWidth done = reach(owners, field.halo, dimensions);
    for (const int d : own) done.lower[d] = done.upper[d] = 0;
    const auto& strides = field.blocks[0].strides;
    std::stable_sort(own.begin(), own.end(), [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
    for (const int d : own) {
        const Box filled = grow(owned, done, dimensions);
        for (const int side : {-1, 1}) {
            Offset offset{};
            offset[d] = side;
            Box ghosts = filled, image;
            const Box slab = region(owned, field.halo, offset, dimensions);
            ghosts.lo[d] = slab.lo[d], ghosts.hi[d] = slab.hi[d];
            Coordinates shift{};
            shift[d] = -side * owned.extent(d);
            image = translate(ghosts, shift);
            const BoxPiece piece{0, ghosts, owned, shift};
            if (!ghosts.empty())
                program.add(copy_between(box_in_field(plan, f, piece, image), box_in_field(plan, f, piece, ghosts), field.element));
        }
        done.lower[d] = field.halo.lower[d], done.upper[d] = field.halo.upper[d];
    }
}

}  // namespace

bool add_wrap(Program& program, const Plan& plan, int group) {
    const Pattern& pattern = *plan.patterns[static_cast<std::size_t>(group)];
    if (pattern.indexed() || pattern.stages.size() != 1 || pattern.blocks.size() != 1 || pattern.blocks.front().empty())
        return false;
    const Stage& stage = pattern.stages.front();
    const auto owners = owners_of(pattern, stage);
    const auto own = own_dimensions(pattern, stage);
    if (!owners || own.empty() || !images_are_complete(pattern, *owners, own)) return false;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f)
        if (plan.group_of[static_cast<std::size_t>(f)] == group) wrap_field(program, plan, f, own, *owners);
    return true;
}

}  // namespace parhelion

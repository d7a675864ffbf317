#include "plan/compile.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "plan/layout.hpp"

namespace parhelion {
namespace {

using Offset = std::array<int, max_dimensions>;  // of a ghost region: before (−1), beside (0) or
                                                 // behind (1) the owned cells

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
    for (int d = 0; d < pattern.dimensions; ++d)
        offset[d] = cells.hi[d] <= owned.lo[d] ? -1 : cells.lo[d] >= owned.hi[d] ? 1 : 0;
    if (cells != region(owned, pattern.halo, offset, pattern.dimensions)) return {};
    return offset;
}

// Who owns the region at each offset; nothing when some piece is no region.
std::optional<std::map<Offset, int>> owners_of(const Pattern& pattern, const Stage& stage) {
    std::map<Offset, int> owners;
    for (const Link& link : stage)
        for (const BoxPiece& piece : link.receive.boxes) {
            const auto offset = offset_of(pattern, piece.cells);
            if (!offset || piece.turn.seam || !owners.emplace(*offset, link.rank).second) return {};
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
            if (link.rank == rank && d == 1 && beside == 0 &&
                (piece.shift[along] == extent || piece.shift[along] == -extent))
                ++images[along];
        }
    std::vector<int> own;
    for (int d = 0; d < pattern.dimensions; ++d) {
        const int sides = (pattern.halo.lower[d] > 0) + (pattern.halo.upper[d] > 0);
        if (sides > 0 && images[d] == sides) own.push_back(d);
    }
    return own;
}

// Whether going on along the own dimensions from a region leads to regions of the same owner
// everywhere, and to nothing else.
bool images_are_complete(const Pattern& pattern, const std::map<Offset, int>& owners,
                         const std::vector<int>& own) {
    std::map<Offset, int> expected;
    const auto spread = [&](auto&& self, Offset offset, int owner, std::size_t next) -> void {
        if (next == own.size()) {
            if (offset != Offset{}) expected[offset] = owner;
            return;
        }
        const int d = own[next];
        for (const int side : {-1, 0, 1}) {
            if ((side < 0 && pattern.halo.lower[d] == 0) ||
                (side > 0 && pattern.halo.upper[d] == 0))
                continue;
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

// Whether there are ghosts at each combination of the offsets that there are along each dimension,
// which is not so around land.
bool is_product(const std::map<Offset, int>& owners, int dimensions) {
    std::size_t all = 1;
    for (int d = 0; d < dimensions; ++d) {
        std::set<int> sides{0};
        for (const auto& [offset, owner] : owners) sides.insert(offset[d]);
        all *= sides.size();
    }
    return owners.size() == all - 1;
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

// Cells and the ghosts around them that come along, dimension after dimension.
class Wrapping {
public:
    Wrapping(StagePlan& stage, const Plan& plan, int f, std::vector<int> own,
             const std::map<Offset, int>& owners)
        : stage_(stage), plan_(plan), f_(f), own_(std::move(own)), pattern_(plan.pattern_of(f)),
          field_(plan.fields[f]), others_(reach(owners, field_.halo, pattern_.dimensions)) {
        for (const int d : own_) others_.lower[d] = others_.upper[d] = 0;
        const auto& strides = field_.blocks[0].strides;
        const auto shorter = [&](int a, int b) {
            return std::abs(strides[a]) < std::abs(strides[b]);
        };
        std::stable_sort(own_.begin(), own_.end(), shorter);
        for (int d = 0; d < pattern_.dimensions; ++d)
            if (shorter(d, fastest_)) fastest_ = d;
    }

    void add() {
        if (comes_from_others(fastest_))
            return add_around(stage_.wrap, grow(owned(), others_, pattern_.dimensions));
        add_around(stage_.wrap_owned, owned());
        Box inner = owned();
        for (int d = 0; d < pattern_.dimensions; ++d) {
            if (!comes_from_others(d)) continue;
            Box before = inner, behind = inner;
            before.lo[d] = owned().lo[d] - others_.lower[d], before.hi[d] = owned().lo[d];
            behind.lo[d] = owned().hi[d], behind.hi[d] = owned().hi[d] + others_.upper[d];
            if (!before.empty()) add_around(stage_.wrap, before);
            if (!behind.empty()) add_around(stage_.wrap, behind);
            inner.lo[d] = before.lo[d], inner.hi[d] = behind.hi[d];
        }
    }

private:
    const Box& owned() const { return pattern_.blocks.front(); }
    bool comes_from_others(int d) const { return others_.lower[d] + others_.upper[d] > 0; }

    // Images of these cells, then images of both, and so on.
    void add_around(Program& program, Box filled) const {
        for (const int d : own_) {
            for (const int side : {-1, 1}) {
                Offset offset{};
                offset[d] = side;
                const Box slab = region(owned(), field_.halo, offset, pattern_.dimensions);
                Box ghosts = filled;
                ghosts.lo[d] = slab.lo[d], ghosts.hi[d] = slab.hi[d];
                Coordinates shift{};
                shift[d] = -side * owned().extent(d);
                const BoxPiece piece{0, ghosts, owned(), shift};
                if (!ghosts.empty())
                    program.add(
                        copy_between(box_in_field(plan_, f_, piece, translate(ghosts, shift)),
                                     box_in_field(plan_, f_, piece, ghosts), field_.element));
            }
            filled.lo[d] -= field_.halo.lower[d], filled.hi[d] += field_.halo.upper[d];
        }
    }

    StagePlan& stage_;
    const Plan& plan_;
    int f_;
    std::vector<int> own_;  // dimensions, by rising stride
    const Pattern& pattern_;
    const Field& field_;
    HaloWidth others_;  // of the ghosts that come from other ranks
    int fastest_ = 0;
};

}  // namespace

bool add_wrap(StagePlan& stage_plan, const Plan& plan, int group) {
    const Pattern& pattern = *plan.patterns[group];
    if (pattern.indexed() || pattern.stages.size() != 1 || pattern.blocks.size() != 1 ||
        pattern.blocks.front().empty())
        return false;
    const Stage& stage = pattern.stages.front();
    const auto owners = owners_of(pattern, stage);
    const auto own = own_dimensions(pattern, stage);
    if (!owners || own.empty() || !images_are_complete(pattern, *owners, own) ||
        !is_product(*owners, pattern.dimensions))
        return false;
    stage_plan.wrap_owned.dependence = stage_plan.wrap.dependence = Dependence::chain;
    for (int f = 0; f < static_cast<int>(plan.fields.size()); ++f)
        if (plan.group_of[f] == group) Wrapping(stage_plan, plan, f, own, *owners).add();
    return true;
}

}  // namespace parhelion

// What every placement method is given: the grid, the stencil, and the machine as a tree of units of equal kinds.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/order.hpp"
#include "parhelion/placement/stencil.hpp"

namespace parhelion::placement {

/// A kind of unit: units of one level with the same ranks, dealt alike inside. `parts` are the kinds of the units one
/// level further in, in order, without empty ones; none at the innermost level.
struct UnitKind {
    int level = -1;  ///< of the unit itself; −1 is the whole machine
    int ranks = 0;
    std::vector<int> parts;
    std::vector<int> starts;  ///< ranks before each part, and the end
    bool equal_parts = true;

    int count() const { return static_cast<int>(parts.size()); }
};

/// All kinds of a machine; the last is the whole machine.
class UnitKinds {
public:
    explicit UnitKinds(const Machine& machine);

    const UnitKind& operator[](int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
    int whole() const { return static_cast<int>(kinds_.size()) - 1; }
    int levels() const { return levels_; }

private:
    int intern(int level, int ranks, std::vector<int> parts);
    int intern_unit(const NodeShape& shape, int level, int first, int last);

    int levels_;
    std::vector<UnitKind> kinds_;
};

/// A run of parts of one unit that is to fill a box.
struct Share {
    int kind;
    int first, count;

    friend auto operator<=>(const Share&, const Share&) = default;
};

struct Problem {
    ProcessGrid grid;
    Stencil stencil;
    const Machine& machine;
    UnitKinds kinds;

    /// Errors: see check_bytes.
    Problem(ProcessGrid grid_, Stencil stencil_, const Machine& machine_)
        : grid(grid_), stencil(std::move(stencil_)), machine(machine_), kinds(machine_) {
        check_bytes(grid, stencil);
    }

    int ranks(const Share& share) const {
        const auto& starts = kinds[share.kind].starts;
        return starts[static_cast<std::size_t>(share.first + share.count)] - starts[static_cast<std::size_t>(share.first)];
    }

    Share whole() const { return {kinds.whole(), 0, kinds[kinds.whole()].count()}; }

    /// The same parts, named alike wherever they come from in their unit; descends into a single part.
    Share normal(Share share) const;

    /// The box spans a periodic dimension, so that its two ends meet.
    bool wraps(const Coords& box, int d) const { return grid.periodic[d] && box[d] == grid.extent[d]; }

    /// Bytes of the stencil edges inside the box that a cut after `thickness` slabs along `d` separates.
    std::int64_t cut(const Coords& box, int d, int thickness) const;

    /// Mean cost of a cut along each dimension per point of the cut face: how long a good block is there.
    std::array<double, max_dimensions> cut_weight() const;
};

/// Extents of a block of about `ranks` points with the least cut for its size; fits in the box.
std::array<double, max_dimensions> ideal_block(const Problem& problem, const Coords& box, double ranks);

}  // namespace parhelion::placement

// One end of everything that a rank exchanges, packed, to be looked at.
#pragma once

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/plan.hpp"
#include "plan/compile.hpp"
#include "plan/shared_run.hpp"

namespace parhelion {

/// The cells that a rank shares with a neighbor (or with itself), and memory for their values.
struct PackedCells {
    int rank;           ///< of the neighbor
    std::size_t stage;  ///< of the plan
    MessageLayout layout;
    Program pack;
    AlignedBytes values;

    /// Arrays → `values`, or back. Local.
    void take(const Plan& plan, Bases arrays) { take(plan, arrays, values.get()); }
    void take(const Plan& plan, Bases arrays, std::byte* to) const { run_shared(plan, pack, arrays, &to); }
    void put(const Plan& plan, Bases arrays) const {
        std::byte* const from = values.get();
        run_shared(plan, inverse(pack), &from, arrays);
    }
};

/// Of every neighbor, and of the rank's own images: all ghosts, or the different owned cells that others have as ghosts. The plan must
/// outlive it. Local.
inline std::vector<PackedCells> packed_cells(const Plan& plan, End end) {
    std::vector<PackedCells> all;
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
        const auto add = [&](int rank, const Links& links) {
            MessageLayout layout = message_layout(plan, links, end, end == End::ghosts ? Direction::reverse : Direction::forward);
            if (layout.fields.empty()) return;
            Program pack = compile_pack(plan, layout);
            AlignedBytes values = allocate_aligned(layout.bytes());
            all.push_back({rank, s, std::move(layout), std::move(pack), std::move(values)});
        };
        for (const LinkPlan& link : plan.stages[s].links) add(link.rank, link.links);
        if (plan.stages[s].self) add(plan.communicator().rank(), plan.stages[s].self->links);
    }
    return all;
}

/// Saves when made; `restore` puts back. Local. The plan must outlive it.
class SavedGhosts {
public:
    explicit SavedGhosts(const Plan& plan) : plan_(plan), ghosts_(packed_cells(plan, End::ghosts)) {
        for (PackedCells& cells : ghosts_) cells.take(plan_, plan_.bases.data());
    }
    void restore() const {
        for (const PackedCells& cells : ghosts_) cells.put(plan_, plan_.bases.data());
    }

private:
    const Plan& plan_;
    std::vector<PackedCells> ghosts_;
};

}  // namespace parhelion

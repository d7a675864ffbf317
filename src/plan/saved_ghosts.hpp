// The values of all ghosts, to be put back after trial exchanges have overwritten them.
#pragma once

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/plan.hpp"
#include "plan/shared_run.hpp"

namespace parhelion {

/// Saves when made; `restore` puts back. Local. The plan must outlive it.
class SavedGhosts {
public:
    explicit SavedGhosts(const Plan& plan) : plan_(plan) {
        for (const StagePlan& stage : plan.stages) {
            for (const LinkPlan& link : stage.links) save(link.links);
            if (stage.self) save(stage.self->links);
        }
    }
    void restore() const {
        for (const Part& part : parts_) {
            std::byte* const from[1] = {part.values.get()};
            run_shared(plan_, inverse(part.program), from, plan_.bases.data());
        }
    }

private:
    struct Part {
        Program program;
        AlignedBytes values;
    };
    void save(const Links& links) {
        Part& part = parts_.emplace_back(Part{compile_ghosts(plan_, links), allocate_aligned(ghost_bytes(plan_, links))});
        std::byte* const to[1] = {part.values.get()};
        run_shared(plan_, part.program, plan_.bases.data(), to);
    }

    const Plan& plan_;
    std::vector<Part> parts_;
};

}  // namespace parhelion

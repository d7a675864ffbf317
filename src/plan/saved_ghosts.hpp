// The values of all ghosts, to be put back after trial exchanges have overwritten them.
#pragma once

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Saves when made; `restore` puts back. Local. The plan must outlive it.
class SavedGhosts {
public:
    explicit SavedGhosts(const Plan& plan) : plan_(plan) {
        for (const Stage& stage : plan.pattern->stages)
            for (const Link& link : stage) {
                Part& part = parts_.emplace_back(Part{compile_ghosts(plan, link), allocate_aligned(ghost_bytes(plan, link))});
                std::byte* const to[1] = {part.values.get()};
                run(part.program, plan.bases.data(), to);
            }
    }
    void restore() const {
        for (const Part& part : parts_) {
            std::byte* const from[1] = {part.values.get()};
            run(inverse(part.program), from, plan_.bases.data());
        }
    }

private:
    struct Part {
        Program program;
        AlignedBytes values;
    };
    const Plan& plan_;
    std::vector<Part> parts_;
};

}  // namespace parhelion

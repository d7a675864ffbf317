#include "plan/staged_plan.hpp"

#include <algorithm>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

void learn_from(const LinkPlan& known, LinkPlan& link) {
    link.orders = known.orders;
    link.thin = known.thin;
    link.card = known.card;
}

}  // namespace

Plan staged_plan(const Plan& plan, const std::vector<DimensionSet>& stages) {
    Plan staged{{}, plan.fields, plan.group_of, plan.bases, plan.first_base, {}, plan.team, plan.parts};
    for (const auto& pattern : plan.patterns) staged.patterns.push_back(std::make_shared<const Pattern>(by_dimensions(*pattern, stages)));
    merge_stages(staged);
    for (StagePlan& stage : staged.stages)
        for (LinkPlan& link : stage.links) {
            const auto is_same = [&](const LinkPlan& known) { return known.rank == link.rank; };
            learn_from(*std::ranges::find_if(plan.stages.front().links, is_same), link);
        }
    compile_stages(staged);
    return staged;
}

}  // namespace parhelion

#include "plan/staged_plan.hpp"

#include <algorithm>

#include "plan/compile.hpp"

namespace parhelion {
namespace {

// What the handshake told of the neighbor; whether there was one: a subset has no link to whom it sends nothing.
bool learn(const std::vector<LinkPlan>& known, LinkPlan& link) {
    const auto same = std::ranges::find(known, link.rank, &LinkPlan::rank);
    if (same == known.end()) return false;
    link.orders = same->orders;
    link.thin = same->thin;
    link.card = same->card;
    return true;
}

}  // namespace

Plan staged_plan(const Plan& plan, const std::vector<DimensionSet>& stages) {
    Plan staged = plan;
    staged.patterns.clear();
    staged.stages.clear();
    for (const auto& pattern : plan.patterns) staged.patterns.push_back(std::make_shared<const Pattern>(by_dimensions(*pattern, stages)));
    merge_stages(staged);
    for (StagePlan& stage : staged.stages)
        std::erase_if(stage.links, [&](LinkPlan& link) { return !learn(plan.stages.front().links, link); });
    compile_stages(staged);
    return staged;
}

}  // namespace parhelion

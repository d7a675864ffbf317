#include "transport/node/watch.hpp"

#include "transport/node/node_context.hpp"

namespace parhelion {

// The ranks of a simulation are one process: none ends alone.
#ifdef PARHELION_SIMULATED
Watch::Watch(const Communicator&) {}
#else
Watch::Watch(const Communicator& comm) {
    try {
        node_ = &comm.shared_state<NodeContext>();
        record_ = node_->record();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::system) throw;
        refusal_ = error.what();
    }
}
#endif

void Watch::meet(const Plan& plan) {
    if (node_ == nullptr) return;
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links)
            if (plan.communicator().node_rank(link.rank) >= 0) node_->watch(link.rank, link.record);
}

std::string Watch::gaps(const Plan& plan) const {
    if (!refusal_.empty()) return "no neighbor on this node is watched: " + refusal_;
    std::string text;
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links)
            if (const std::string why = node_ != nullptr ? node_->unwatched(link.rank) : "";
                !why.empty())
                text += (text.empty() ? "" : "; ") + ("rank " + std::to_string(link.rank)) +
                        " is not watched: " + why;
    return text;
}

}  // namespace parhelion

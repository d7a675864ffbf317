// Neighbors on the own node are looked after, whatever moves their data.
#pragma once

#include <string>

#include "parhelion/plan/plan.hpp"
#include "pattern/words.hpp"

namespace parhelion {

class NodeContext;

/// One per communicator (Communicator::shared_state), made before the first plan on it.
/// Construction is local.
class Watch {
public:
    explicit Watch(const Communicator& comm);

    /// What neighbors need to watch this rank: goes along with the headers of make_plan.
    const Words& record() const { return record_; }
    /// Meets the plan's neighbors on this node by the records that came from them. Local.
    void meet(const Plan& plan);
    /// Null where nobody can be watched.
    NodeContext* node() const { return node_; }
    /// Which neighbors of the plan on this node are not watched, and why; empty when all are.
    /// Local.
    std::string gaps(const Plan& plan) const;

private:
    NodeContext* node_ = nullptr;
    std::string refusal_;
    Words record_;
};

}  // namespace parhelion

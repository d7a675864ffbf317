// One stage of an exchange: transports and the rank's own images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/choice.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// What one look at the neighbors led to.
enum class Poll { nothing, moved, complete };

class StageExchange {
public:
    /// Collective: makes the transports of `choice`, each with its neighbors.
    StageExchange(const Plan& plan, const StagePlan& stage, const Choice& choice);

    void begin(Direction direction);
    /// Does what can be done without waiting. A reverse exchange combines in ascending order of rank, whoever comes first.
    Poll poll(Direction direction, Reduction reduction);
    /// What is being waited for, for an error.
    std::string missing_text(Direction direction) const;

    /// Where to sleep, null when no neighbor is on this node.
    NodeContext* node() const { return node_; }
    /// Whether something gets on only while it is polled.
    bool must_poll() const { return must_poll_; }
    bool calls_mpi() const { return calls_mpi_; }

private:
    struct Used {
        const TransportInfo* info;
        std::unique_ptr<Transport> transport;
        std::vector<const LinkPlan*> links;
    };
    struct Place {
        int rank;
        int used;  // −1: this rank itself
        int slot;
    };
    void use(const Plan& plan, const TransportInfo& info, std::vector<const LinkPlan*> links);
    bool deliver_arrived(Direction direction, Reduction reduction);
    void deliver_in_order(Reduction reduction);
    bool finished(Direction direction);

    const Plan& plan_;
    const StagePlan& stage_;
    std::vector<Used> used_;
    std::vector<Place> in_order_;                  // receivers of a reverse exchange
    int missing_ = 0;
    bool combined_ = false;                        // what comes after all arrivals is done: images, or owners' sums
    NodeContext* node_ = nullptr;
    bool must_poll_ = false, calls_mpi_ = false;
};

}  // namespace parhelion

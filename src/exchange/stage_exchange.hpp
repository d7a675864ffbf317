// One stage of an exchange in one direction: its transports and the rank's own images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/selection.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// What one look at the neighbors led to.
enum class Poll { nothing, moved, complete };

class StageExchange {
public:
    /// Collective: makes the transports of `choice`, each with its neighbors.
    StageExchange(const Plan& plan, const BoundArrays& arrays, Queue& queue, Direction direction,
                  const StagePlan& stage, const Choice& choice);

    /// When other arrays were bound: why a transport cannot move them, empty where all can.
    std::string refusal() { return transport_->refusal(); }
    void begin();
    /// The caller goes away: neighbors must be able to end this exchange without it.
    void leave() { transport_->leave(); }
    /// Does what can be done without waiting. A reverse exchange combines in ascending order of
    /// rank, whoever comes first; where it must not, it takes note of what has arrived.
    Poll poll(Reduction reduction, bool may_combine);
    /// Whether a reverse exchange has all that it combines.
    bool arrived() const { return !forward() && missing_ == 0; }
    /// What is being waited for, for an error.
    std::string missing_text() const;

    /// Where to sleep, null when no neighbor is on this node.
    NodeContext* node() const { return node_; }
    /// Whether something gets on only while it is polled.
    bool must_poll() const { return must_poll_; }
    bool calls_mpi() const { return calls_mpi_; }
    bool passes_on() const { return transport_->passes_on(); }
    std::vector<NodeTraffic> traffic() const { return transport_->traffic(); }

private:
    bool forward() const { return direction_ == Direction::forward; }
    void use_transports(const Choice& choice);
    bool on_node(const Choice& choice, const LinkPlan& link) const;
    void expect();
    void copy(const Program& program, Reduction reduction = Reduction::replace);
    void copy_own_images();
    bool take_arrived(Reduction reduction);
    bool combine_in_order(Reduction reduction);
    void combine_own(Reduction reduction);

    const Plan& plan_;
    const BoundArrays& arrays_;
    Queue& queue_;
    const Direction direction_;
    const StagePlan& stage_;
    std::unique_ptr<Transport> transport_;
    std::vector<const TransportInfo*> names_;  // of each slot
    int missing_ = 0;
    bool wrapped_ = false;       // forward: images that need what has arrived are copied
    std::vector<bool> arrived_;  // reverse: and not combined yet
    std::size_t combined_ =
        0;  // reverse: slots that come before in the order; they are in ascending order of rank
    bool own_combined_ = false;  // reverse: this rank's own ghosts
    NodeContext* node_ = nullptr;
    bool must_poll_ = false, calls_mpi_ = false;
};

}  // namespace parhelion

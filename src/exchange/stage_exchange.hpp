// One stage of an exchange: transports and the rank's own images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/choice.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Exchanges that are made to be timed need no reverse direction, which has to be made if they are kept.
struct Trial {
    Lanes lanes = Lanes::both;
    double rival_s = 0;
};

/// What one look at the neighbors led to.
enum class Poll { nothing, moved, complete };

class StageExchange {
public:
    /// Collective: makes the transports of `choice`, each with its neighbors.
    StageExchange(const Plan& plan, const StagePlan& stage, const Choice& choice, const Trial& trial);
    /// Collective: makes what a trial left out.
    void complete();

    void begin(Direction direction);
    /// The caller goes away: neighbors must be able to end this exchange without it.
    void leave(Direction direction);
    /// A forward exchange whose values come part by part: open, then put once for each part (by any threads, several at once), then
    /// close; nothing else before that.
    void open_parts();
    void put_part(int part, bool may_call_mpi);
    void close_parts();
    /// Does what can be done without waiting. A reverse exchange combines in ascending order of rank, whoever comes first.
    Poll poll(Direction direction, Reduction reduction);
    /// What is being waited for, for an error.
    std::string missing_text(Direction direction) const;

    /// Where to sleep, null when no neighbor is on this node.
    NodeContext* node() const { return node_; }
    /// Whether something gets on only while it is polled.
    bool must_poll() const { return must_poll_; }
    bool calls_mpi() const { return calls_mpi_; }
    bool takes_parts() const;

private:
    struct Used {
        const TransportInfo* info;
        std::shared_ptr<Transport> forward, reverse;  // often one for both
        std::vector<const LinkPlan*> links;
        Transport& at(Direction direction) const { return direction == Direction::forward ? *forward : *reverse; }
    };
    struct Place {
        int rank;
        int used;  // −1: this rank itself
        int slot;
    };
    void use(const TransportInfo& info, std::vector<const LinkPlan*> links, const Trial& trial);
    void expect(Direction direction);
    void copy_own_images();
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

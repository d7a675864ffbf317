// One stage of an exchange: transports and the rank's own images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/choice.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

class StageExchange {
public:
    /// Collective: makes the transports of `choice`, each with its neighbors.
    StageExchange(const Plan& plan, const StagePlan& stage, const Choice& choice);

    void begin(Direction direction);
    /// Waits for the neighbors; a reverse exchange combines in ascending order of rank, whoever comes first.
    void end(Direction direction, Reduction reduction, double timeout_s);

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
    std::string missing_text(Direction direction) const;

    const Plan& plan_;
    const StagePlan& stage_;
    std::vector<Used> used_;
    std::vector<Place> in_order_;                  // receivers of a reverse exchange
    std::vector<std::vector<char>> arrived_;       // per transport and slot
    int missing_ = 0;
    NodeContext* node_ = nullptr;  // where to sleep, when a neighbor is on this node
    bool also_mpi_ = false;
};

}  // namespace parhelion

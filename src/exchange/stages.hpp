// All stages of an exchange with one choice of transports.
#pragma once

#include <vector>

#include "exchange/stage_exchange.hpp"

namespace parhelion {

/// Runs stages one after another; a reverse exchange from the last to the first.
class Stages {
public:
    /// Collective.
    Stages(const Plan& plan, const Choice& choice) {
        stages_.reserve(plan.stages.size());
        for (const StagePlan& stage : plan.stages) stages_.emplace_back(plan, stage, choice);
    }
    void begin(Direction direction) {
        if (!stages_.empty()) at(0, direction).begin(direction);
    }
    void end(Direction direction, Reduction reduction, double timeout_s) {
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            if (s > 0) at(s, direction).begin(direction);
            at(s, direction).end(direction, reduction, timeout_s);
        }
    }

private:
    StageExchange& at(std::size_t number, Direction direction) {
        return stages_[direction == Direction::forward ? number : stages_.size() - 1 - number];
    }
    std::vector<StageExchange> stages_;
};

}  // namespace parhelion

// The choice that is made by measuring, or by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/trials.hpp"

namespace parhelion {

struct Measured {
    std::string name;
    double seconds;       ///< per exchange, of the slowest rank
    std::string refusal;  ///< empty, or why it was not measured
};

struct AutoChoice {
    Choice choice;
    std::unique_ptr<Stages> stages;  ///< its forward direction
    std::vector<Measured> measured;  ///< empty when nothing was measured
    std::string reason;              ///< for people
};

/// Collective. The choice of this name, which is known (parse_choice). Errors: see StagedPlans::plan.
AutoChoice choose_by_name(const Plan& plan, const BoundArrays& arrays, const std::string& name);

/// Collective. Sets up each way that can serve the plan, likely winners first, times a few forward exchanges of each as the exchange will
/// be used, and keeps the one whose slowest rank is fastest (run_race). The others go before it returns. The ghosts' values are saved
/// before and restored after. Of plans on the same communicator that have the same neighbors and send about as much one is measured; those that
/// the file of PARHELION_WISDOM knows, not at all. Errors: PARHELION_AUTO, equal on all ranks, leaves nothing; no transport reaches the arrays' memory.
AutoChoice choose_automatically(const Plan& plan, const BoundArrays& arrays, const Use& use = {});

}  // namespace parhelion

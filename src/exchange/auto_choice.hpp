// The choice that is made by measuring.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/stages.hpp"

namespace parhelion {

struct Measured {
    std::string name;
    double seconds;       ///< per exchange, of the slowest rank
    std::string refusal;  ///< empty, or why it was not measured
};

struct AutoChoice {
    Choice choice;
    std::unique_ptr<Stages> stages;   ///< its forward direction
    std::vector<Measured> measured;   ///< empty when nothing needed measuring
    bool remembered = false;          ///< an equal plan was measured before
};

/// Collective. Sets up each way that can serve the plan, likely winners first, times a few forward exchanges of each, and keeps
/// the one whose slowest rank is fastest. A way that is far behind in its second exchange gets no third; all trials together
/// take no longer than some 40 exchanges of the fastest. The ghosts' values are saved before and restored after. Equal plans on
/// the same communicator are measured once.
AutoChoice choose_automatically(const Plan& plan, const BoundArrays& arrays);

}  // namespace parhelion

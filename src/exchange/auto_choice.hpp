// The choice that is made by measuring.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/stages.hpp"

namespace parhelion {

struct Measured {
    std::string name;
    double seconds;  ///< per exchange, of the slowest rank
};

struct AutoChoice {
    Choice choice;
    std::unique_ptr<Stages> stages;   ///< ready to use
    std::vector<Measured> measured;   ///< empty when nothing needed measuring
    bool remembered = false;          ///< an equal plan was measured before
};

/// Collective. Sets up each way that can serve the plan, lets them take turns (at most 12 exchanges each), and keeps the
/// one whose slowest rank is fastest. The ghosts' values are saved before and restored after. Equal plans on the same
/// communicator are measured once.
AutoChoice choose_automatically(const Plan& plan);

}  // namespace parhelion

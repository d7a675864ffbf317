#pragma once

#include "application.hpp"
#include "exchanges/exchanges.hpp"

namespace applications {

/// Combines an application that fills ghosts with one exchange method.
MakeProgram over_ghosts(MakeApplication make, std::function<GhostUpdatePointer()> way);

/// Reference: every rank gathers all values and selects its ghosts by id. Slow but simple.
GhostUpdatePointer reference_update();

}  // namespace applications

#pragma once

#include "application.hpp"
#include "exchanges/exchanges.hpp"

namespace applications {

/// An application whose exchanges fill ghosts, over one way to do that.
MakeProgram over_ghosts(MakeApplication make, std::function<GhostUpdatePointer()> way);

/// Every rank gets all values of all ranks and picks its ghosts by their ids: slow, and hard to get
/// wrong.
GhostUpdatePointer reference_update();

}  // namespace applications

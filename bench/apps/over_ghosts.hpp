#pragma once

#include "apps/application.hpp"
#include "apps/ways/ways.hpp"

namespace parhelion::bench {

/// An application whose exchanges fill ghosts, over one way to do that.
MakeProgram over_ghosts(MakeApplication make, std::function<GhostUpdatePointer()> way);

/// Every rank gets all values of all ranks and picks its ghosts by their ids: slow, and hard to get wrong.
GhostUpdatePointer reference_update();

}  // namespace parhelion::bench

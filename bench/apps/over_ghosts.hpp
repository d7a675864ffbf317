#pragma once

#include "apps/application.hpp"
#include "apps/ways/ways.hpp"

namespace parhelion::bench {

/// An application whose exchanges fill ghosts, over one way to do that.
MakeProgram over_ghosts(MakeApplication make, std::function<GhostUpdatePointer()> way);

}  // namespace parhelion::bench

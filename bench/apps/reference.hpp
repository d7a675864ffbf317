#pragma once

#include "apps/ways/ways.hpp"

namespace parhelion::bench {

/// Every rank gets all values of all ranks and picks its ghosts by their ids: slow, and hard to get wrong.
GhostUpdatePointer reference_update();

}  // namespace parhelion::bench

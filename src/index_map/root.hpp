// What operations between one rank and all have in common.
#pragma once

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// Collective. Throws Error on every rank unless all name the same root, and it exists.
void require_root(int root, const Communicator& comm);

}  // namespace parhelion

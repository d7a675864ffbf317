// Who is where, when ranks wait for each other for too long.
#pragma once

#include <chrono>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// For a wait on `comm` that began at `since`, from time to time: throws Error when it has taken longer than the time limit, and when
/// another rank has given up. Before that, ranks that wait tell each other in which call they are; the others do not answer. What they
/// waited for is under way yet, so that the communicator is of no more use.
void look_at_the_clock(const Communicator& comm, std::chrono::steady_clock::time_point since);

}  // namespace parhelion

// What MPI may still use after an exchange was given up.
#pragma once

#include <memory>

namespace parhelion {

/// Keeps it until the process ends, on purpose, and in reach: whoever looks for leaks finds none. Thread-safe.
void leave_behind(std::shared_ptr<const void> memory);

}  // namespace parhelion

// Memory that somebody else may still use when its owner goes: MPI after an exchange was given up,
// a neighbor that reads late.
#pragma once

#include <functional>
#include <memory>

namespace parhelion {

/// Keeps it until the process ends, on purpose, and in reach: whoever looks for leaks finds none.
/// Thread-safe.
void orphan(std::shared_ptr<const void> memory);
/// Keeps it until `released` says that nobody uses it any more, which is asked when the next such
/// memory is left and when MPI ends. Thread-safe.
void orphan_until(std::shared_ptr<const void> memory, std::function<bool()> released);
/// Asks now. Thread-safe.
void free_released();

}  // namespace parhelion

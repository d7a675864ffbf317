// Buffers that outlive their owners, because MPI after a failed exchange, or a neighbor, may still
// use them.
#pragma once

#include <functional>
#include <memory>

namespace parhelion {

/// Keeps the memory, still reachable for leak checkers, until the process ends. Thread-safe.
void orphan(std::shared_ptr<const void> memory);
/// Keeps the memory until `released` returns true; called on the next orphan_until and when MPI
/// ends. Thread-safe.
void orphan_until(std::shared_ptr<const void> memory, std::function<bool()> released);
/// Frees released memory now. Thread-safe.
void free_released();

}  // namespace parhelion

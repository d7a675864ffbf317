// Buffers that outlive their owners: MPI, after a failed exchange, or a neighbor may still use
// them.
#pragma once

#include <functional>
#include <memory>

namespace parhelion {

/// Keeps the memory until the process ends, reachable for leak checkers, also if memory runs out.
/// Thread-safe.
void orphan(std::shared_ptr<const void> memory) noexcept;
/// Keeps the memory until `released` returns true; the next orphan_until and MPI's end ask.
/// Thread-safe.
void orphan_until(std::shared_ptr<const void> memory, std::function<bool()> released);
/// Thread-safe.
void free_released();

}  // namespace parhelion

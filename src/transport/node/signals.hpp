// Sequence numbers in shared memory, and sleeping until one changes.
//
// Why no wait is lost: the signaller stores its number, fences, then looks for sleepers; the
// sleeper counts itself in, fences, then looks at the number once more before it sleeps on the
// doorbell's old value. Whoever fences second sees what the other wrote. docs/memory-ordering.md
// has the argument, tests/model the checked model.
#pragma once

#include <atomic>
#include <cstdint>

namespace parhelion {

/// A number on a cache line of its own. One rank writes it, one polls it.
struct alignas(64) SequenceLine {
    std::atomic<std::uint64_t> value{0};
};
static_assert(sizeof(SequenceLine) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// What every rank shows its neighbors on the node: where it can be woken, and whether it has given
/// up.
struct Mailbox {
    alignas(64) std::atomic<std::uint32_t> doorbell{0};  ///< futex
    alignas(64) std::atomic<std::int32_t> sleepers{0};
    alignas(64) std::atomic<std::int32_t> lost_rank{
        -1};  ///< the dead rank because of which this one gave up
};

/// Publishes everything written before, then wakes the neighbor if it sleeps. A system call only in
/// that case.
void post(std::atomic<std::uint64_t>& number, std::uint64_t value, Mailbox& neighbor);

/// Wakes all threads that sleep at this mailbox.
void ring(Mailbox& mailbox);
/// After a number was stored and a fence made: wakes the neighbor if it sleeps.
inline void wake_if_asleep(Mailbox& neighbor) {
    if (neighbor.sleepers.load(std::memory_order_relaxed) > 0) ring(neighbor);
}

/// Counts the caller in as a sleeper. What it waits for must be looked at once more before it
/// sleeps.
void announce_sleep(Mailbox& own);

/// Sleeps until the doorbell no longer has the value, or for `limit_us`. Spurious wake-ups are
/// possible.
void sleep_at(Mailbox& mailbox, std::uint32_t doorbell, long limit_us);

}  // namespace parhelion

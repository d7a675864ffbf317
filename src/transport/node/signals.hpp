// Sequence numbers in shared memory, and sleeping until one changes.
//
// No wake-up is lost: the signaler stores its number, fences, then looks for sleepers; the sleeper
// counts itself, fences, then checks the number again before it sleeps on the doorbell's old value.
// The second to fence sees the other's store. Proof: docs/memory-ordering.md; checked model:
// tests/model.
#pragma once

#include <atomic>
#include <cstdint>

namespace parhelion {

/// A number on its own cache line, written by one rank and polled by another.
struct alignas(64) SequenceLine {
  std::atomic<std::uint64_t> value{0};
};
static_assert(sizeof(SequenceLine) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// A rank's state for neighbors on the node.
struct Mailbox {
  alignas(64) std::atomic<std::uint32_t> doorbell{0};  ///< futex
  alignas(64) std::atomic<std::int32_t> sleepers{0};
  alignas(64) std::atomic<std::int32_t> lost_rank{
      -1};  ///< the dead rank that made this one give up
};

/// Stores with release, then wakes the neighbor if it sleeps; only that takes a system call.
void post(std::atomic<std::uint64_t>& number, std::uint64_t value, Mailbox& neighbor);

/// Wakes all sleepers on this mailbox.
void ring(Mailbox& mailbox);
/// Call after storing a number and a fence: wakes the neighbor if it sleeps.
inline void wake_if_asleep(Mailbox& neighbor) {
  if (neighbor.sleepers.load(std::memory_order_relaxed) > 0) ring(neighbor);
}

/// Counts the caller as a sleeper; check the awaited number again before sleeping.
void announce_sleep(Mailbox& own);

/// Sleeps until the doorbell differs from `doorbell`, at most `limit_us`; may wake spuriously.
void sleep_at(Mailbox& mailbox, std::uint32_t doorbell, long limit_us);

}  // namespace parhelion

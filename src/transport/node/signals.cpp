#include "transport/node/signals.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace parhelion {

void ring(Mailbox& mailbox) {
  mailbox.doorbell.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &mailbox.doorbell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void post(std::atomic<std::uint64_t>& number, std::uint64_t value, Mailbox& neighbor) {
  number.store(value, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  wake_if_asleep(neighbor);
}

// A read-modify-write is no fence, in the C++ memory model and on some processors.
void announce_sleep(Mailbox& own) {
  own.sleepers.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void sleep_at(Mailbox& mailbox, std::uint32_t doorbell, long limit_us) {
  const timespec limit{limit_us / 1000000, limit_us % 1000000 * 1000};
  syscall(SYS_futex, &mailbox.doorbell, FUTEX_WAIT, doorbell, &limit, nullptr, 0);
}

}  // namespace parhelion

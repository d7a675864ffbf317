#include "spin.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace parhelion::bench {

namespace {

// std::atomic's own wait sleeps on futexes private to a process; these are shared.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t argument) {
    syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), operation, argument, nullptr,
            nullptr, 0);
}

}  // namespace

void Flag::post_and_wake(std::uint32_t sequence) {
    post(sequence);
    futex(value, FUTEX_WAKE, INT_MAX);
}

void Flag::count_one_more(bool wake) {
    value.fetch_add(1, std::memory_order_acq_rel);
    if (wake) futex(value, FUTEX_WAKE, INT_MAX);
}

void Flag::sleep_until(std::uint32_t sequence) const {
    while (!reached(sequence)) {
        const std::uint32_t seen = value.load(std::memory_order_acquire);
        if (static_cast<std::int32_t>(seen - sequence) < 0) futex(value, FUTEX_WAIT, seen);
    }
}

}  // namespace parhelion::bench

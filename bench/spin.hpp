#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace parhelion::bench {

inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// A sequence number on a cache line of its own, in memory that processes share.
struct alignas(64) Flag {
    std::atomic<std::uint64_t> value{0};
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the flag is shared between processes");

    void post(std::uint64_t sequence) { value.store(sequence, std::memory_order_release); }
    bool reached(std::uint64_t sequence) const { return value.load(std::memory_order_acquire) >= sequence; }

    /// Spins, and lets others run where that takes long: there may be more ranks than cores.
    void wait_for(std::uint64_t sequence) const {
        for (int spins = 0; !reached(sequence); ++spins) spins < 20000 ? pause_briefly() : static_cast<void>(sched_yield());
    }
};

}  // namespace parhelion::bench

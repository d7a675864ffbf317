#pragma once

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
    std::atomic<std::uint32_t> value{0};
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free,
                  "the flag is shared between processes");

    void post(std::uint32_t sequence) { value.store(sequence, std::memory_order_release); }

    /// Sequence numbers may wrap around: what was posted is never 2^31 steps behind or ahead.
    bool reached(std::uint32_t sequence) const {
        return static_cast<std::int32_t>(value.load(std::memory_order_acquire) - sequence) >= 0;
    }
    void wait_for(std::uint32_t sequence) const {
        while (!reached(sequence)) pause_briefly();
    }

    // Where ranks outnumber cores, spinning keeps the very rank from running that is waited for:
    // sleep instead.
    void post_and_wake(std::uint32_t sequence);
    void count_one_more(bool wake);
    void sleep_until(std::uint32_t sequence) const;
};

}  // namespace parhelion::bench

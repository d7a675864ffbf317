#include "exchange/waiter.hpp"

#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parhelion {

bool Waiter::pause() {
    ++polls_;
    if (polls_ < eager_polls) {
#if defined(__x86_64__)
        _mm_pause();
#endif
        return true;
    }
    sched_yield();
    if (timeout_s_ <= 0 || polls_ % polls_between_clocks != 0) return true;
    const auto now = Clock::now();
    if (!timing_) {
        timing_ = true;
        since_ = now;
    }
    return std::chrono::duration<double>(now - since_).count() < timeout_s_;
}

}  // namespace parhelion

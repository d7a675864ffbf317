#pragma once

#include <chrono>

namespace parhelion::bench {

/// Seconds of a clock that never goes back.
inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Calls `work` and adds the seconds it took to `total`.
template <class Work>
decltype(auto) timed(double& total, Work&& work) {
    struct Adder {
        double& total;
        double start = now();
        ~Adder() { total += now() - start; }
    } adder{total};
    return work();
}

}  // namespace parhelion::bench

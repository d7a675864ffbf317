// Random choices that are equal on all ranks and repeat from a printed seed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/values.hpp"

namespace test {

/// The standard's distributions differ between libraries; these do not.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
    std::uint64_t next() { return state_ = mix(state_); }
    /// lo … hi, both included.
    int between(int lo, int hi) { return lo + static_cast<int>(next() % static_cast<std::uint64_t>(hi - lo + 1)); }
    bool chance(int percent) { return between(1, 100) <= percent; }
    template <class T>
    const T& pick(const std::vector<T>& from) { return from[next() % from.size()]; }

private:
    std::uint64_t state_;
};

/// PARHELION_TEST_SEED repeats a failed run.
inline std::uint64_t first_seed() {
    const char* text = std::getenv("PARHELION_TEST_SEED");
    return text == nullptr ? 20260101 : std::strtoull(text, nullptr, 10);
}

}  // namespace test

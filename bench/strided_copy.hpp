#pragma once

#include <array>
#include <cstddef>

// The copy loops of the hand-written baselines and of the floor.

namespace parhelion::bench {

/// A box of an array: runs of `run_bytes` contiguous bytes, repeated in up to three nested strides.
struct Region {
    std::byte* start = nullptr;
    std::size_t run_bytes = 0;
    std::array<std::ptrdiff_t, 3> count{1, 1, 1};   // innermost first
    std::array<std::ptrdiff_t, 3> stride{0, 0, 0};  // bytes

    std::size_t bytes() const {
        return run_bytes * static_cast<std::size_t>(count[0] * count[1] * count[2]);
    }
};

/// Copies a region into dense memory; returns the end of what was written.
std::byte* pack(const Region& from, std::byte* to);

/// Copies dense memory into a region; returns the end of what was read.
const std::byte* unpack(const std::byte* from, const Region& to);

/// Copies between two regions with the same runs and counts.
void copy(const Region& from, const Region& to);

}  // namespace parhelion::bench

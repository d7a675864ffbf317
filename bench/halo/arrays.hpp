#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "halo/geometry.hpp"
#include "verified.hpp"

namespace parhelion::bench {

// The copy loops of the hand-written baselines and of the floor.

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

/// The field arrays of one rank: one block of memory per field.
class HaloArrays : public VerifiedArrays {
public:
    HaloArrays(const HaloGeometry& geometry, const HaloParams& params,
               std::shared_ptr<const Memory> memory);

    const HaloGeometry& geometry() const { return geometry_; }
    int fields() const { return static_cast<int>(starts_.size()); }
    std::byte* field(int index) const { return block(index); }
    /// Of all fields; they live as long as this.
    void* const* starts() const { return starts_.data(); }

private:
    void for_each_run(const Visit& visit) const override;

    HaloGeometry geometry_;
    std::vector<void*> starts_;
};

/// A box of an array that starts at `field`, its contiguous dimensions joined into longer runs.
Region region_of(const HaloGeometry& geometry, const Box& box, std::byte* field);

}  // namespace parhelion::bench

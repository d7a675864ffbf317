#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "halo/geometry.hpp"
#include "verified.hpp"

namespace parhelion::bench {

/// A box of an array: runs of `run_bytes` contiguous bytes in up to three nested strides.
struct Region {
  std::byte* start = nullptr;
  std::size_t run_bytes = 0;
  std::array<std::ptrdiff_t, 3> count{1, 1, 1};   // innermost first
  std::array<std::ptrdiff_t, 3> stride{0, 0, 0};  // bytes

  std::size_t bytes() const {
    return run_bytes * static_cast<std::size_t>(count[0] * count[1] * count[2]);
  }
};

std::byte* pack(const Region& from, std::byte* to);

const std::byte* unpack(const std::byte* from, const Region& to);

void copy(const Region& from, const Region& to);

class HaloArrays : public VerifiedArrays {
 public:
  HaloArrays(
      const HaloGeometry& geometry, const HaloParams& params, std::shared_ptr<const Memory> memory);

  const HaloGeometry& geometry() const { return geometry_; }
  int fields() const { return static_cast<int>(starts_.size()); }
  std::byte* field(int index) const { return block(index); }
  void* const* starts() const { return starts_.data(); }

 private:
  void for_each_run(const Visit& visit) const override;

  HaloGeometry geometry_;
  std::vector<void*> starts_;
};

/// The region of `box` in the array at `field`; joins contiguous dimensions into longer runs.
Region region_of(const HaloGeometry& geometry, const Box& box, std::byte* field);

}  // namespace parhelion::bench

#include "plan/array_block.hpp"

#include <algorithm>
#include <string>

#include "plan/device/driver.hpp"

namespace parhelion {
namespace {

// Byte offsets of the outermost cells from the first owned one.
struct Reach {
  byte_count low = 0, high = 0;
  void add(byte_count stride, byte_count from, byte_count to) {
    low += std::min(from * stride, to * stride);
    high += std::max(from * stride, to * stride);
  }
};

}  // namespace

ArrayBlock array_block(const Plan& plan, int f, int b) {
  const Field& field = plan.fields[f];
  const Pattern& pattern = plan.pattern_of(f);
  const BlockView& view = field.blocks[b];
  if (cells_of(pattern, b) == 0 || view.first == nullptr) return {};
  Reach reach;
  if (pattern.indexed()) {
    reach.add(view.strides[0], 0, cells_of(pattern, b) - 1);
  } else {
    const Box& owned = pattern.blocks[b];
    const Box cells =
        intersect(grow(owned, field.halo, pattern.dimensions), plan.reaches[plan.group_of[f]][b]);
    for (int d = 0; d < pattern.dimensions; ++d)
      reach.add(view.strides[d], cells.lo[d] - owned.lo[d], cells.hi[d] - 1 - owned.lo[d]);
  }
  reach.add(field.stride_of_components(b), 0, field.components - 1);
  return {view.first, view.first + reach.low, view.first + reach.high + field.element.size};
}

ArrayBlock written_block(const Plan& plan, int f, int b) {
  return plan.fields[f].indexed && b == 0 ? ArrayBlock{} : array_block(plan, f, b);
}

std::string place_text(const std::byte* array) {
  const int device = device_of(array);
  return device < 0 ? "in the host's memory" : "on device " + std::to_string(device);
}

namespace {

[[noreturn]] void refuse_array(const std::string& where) {
  throw Error(
      "an array is " + where + ": copy it to the host's memory, or pass its view to an Exchange",
      ErrorKind::type);
}

}  // namespace

void require_on_host(const std::byte* array, bool on_many_calls) {
  if (on_many_calls && device::driver_in_use() == nullptr) return;
  if (device_of(array) >= 0) refuse_array(place_text(array));
}

void require_on_host(const Field& field, bool on_many_calls) {
  for (const BlockView& block : field.blocks) require_on_host(block.first, on_many_calls);
  if (field.space != MemorySpace::host) refuse_array("in device memory");
}

}  // namespace parhelion

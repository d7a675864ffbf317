// Detects cells that share memory.
#pragma once

#include <array>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Bytes [`first` + Σ i·stride, + `width`) for all 0 ≤ i < count.
struct Footprint {
  static constexpr int most_dims = StridedOp::most_dims;
  byte_count first = 0, width = 0;
  int dims = 0;
  std::array<byte_count, most_dims> count{}, stride{};
};

/// Whether a byte belongs to both; whether a byte belongs to two points of one. Exact, in a few
/// steps per dimension for strides of arrays; after a million steps the answer is no.
bool overlap(const Footprint& a, const Footprint& b);
bool overlaps_itself(const Footprint& cells);
/// Whether a byte belongs to two points of `written`, or also to `read`.
bool overlap(const std::vector<Footprint>& written, const std::vector<Footprint>& read);

/// Throws Error if an exchange would touch a byte as part of two cells: of two fields, two blocks,
/// owned cells and ghosts, or one block. Checks cells that it reads or writes, with their real
/// strides: interleaved components of an array may be separate fields. Ignores null pointers and
/// blocks without cells. Local.
void check_disjoint(const Plan& plan, Bases bases);

}  // namespace parhelion

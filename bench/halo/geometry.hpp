#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// A halo case of a job; lists have one entry per dimension, in the job's order.
struct HaloParams {
  std::vector<int> grid;    // ranks per dimension; the last changes fastest with the rank
  std::vector<int> extent;  // owned cells of each rank
  int halo = 1;
  int fields = 1;
  Element element;
  int components = 1;
  bool full = true;  // edges and corners too
  std::vector<bool> periodic;
  std::optional<Pivot> fold = std::nullopt;  // of both sides of the second dimension
  bool first_fastest = true;                 // order "F"; "C" when false
  bool phases = false;                       // time the phases of exchanges too
  bool on_device = false;                    // arrays in device memory
  Work work = {};                            // between begin and end
};

using Offset =
    std::array<int, max_dimensions>;  // to a neighbor in the process grid, each -1, 0 or 1

/// One rank's block in the process grid. Dimensions are in memory order from here on, 0 fastest;
/// unused ones have extent 1 and no halo.
///
///       0     halo       halo+extent  extent+2·halo
///       | ghosts |   owned cells   | ghosts |
struct HaloGeometry {
  int dims = 0;
  int rank = 0;
  bool full = true;
  std::size_t cell_bytes = 0;
  Coordinates halo{}, extent{}, grid{}, position{}, rank_stride{};
  std::array<bool, max_dimensions> periodic{};
  /// Ghosts beyond either side of `folded` are cells inside that side, reversed along `mirrored`.
  struct Fold {
    std::size_t folded, mirrored;
    bool center;
  };
  std::optional<Fold> fold = std::nullopt;
  /// Sides of periodic dimensions without ghosts: lower, upper.
  std::array<std::array<bool, 2>, max_dimensions> bare{};
};

HaloGeometry make_geometry(const HaloParams& params, int rank);

/// Offsets in all directions, and those with a neighbor; in the same order on all ranks.
std::vector<Offset> all_offsets(const HaloGeometry& geometry);
std::vector<Offset> neighbor_offsets(const HaloGeometry& geometry);

int offset_number(const Offset& offset);
Offset opposite(const Offset& offset);

/// The rank at `offset`; empty beyond a non-periodic end.
std::optional<int> neighbor_rank(const HaloGeometry& geometry, const Offset& offset);

/// Owned cells to send to the neighbor at `offset` and ghosts to receive from it, as boxes of the
/// extended array.
Box send_box(const HaloGeometry& geometry, const Offset& offset);
Box ghost_box(const HaloGeometry& geometry, const Offset& offset);

Coordinates extended(const HaloGeometry& geometry);
std::int64_t cells_per_array(const HaloGeometry& geometry);

}  // namespace parhelion::bench

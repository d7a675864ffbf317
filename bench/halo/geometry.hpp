#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/domain/box.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// A halo case as the job states it; lists have one entry per dimension, in the job's order of
/// dimensions.
struct HaloParams {
    std::vector<int>
        grid;  // ranks per dimension; the last dimension's coordinate changes fastest with the rank
    std::vector<int> extent;  // owned cells of each rank
    int halo = 1;
    int fields = 1;
    Element element;
    int components = 1;
    bool full = true;  // edges and corners too, not faces alone
    std::vector<bool> periodic;
    bool folded = false;  // periodic along all dimensions but the second, whose sides are folded
    bool first_fastest = true;  // order "F"; "C" when false
    bool phases = false;        // of exchanges are timed, too
    bool on_device = false;     // arrays
    Work work = {};             // between the beginning and the end of an exchange
};

using Offset =
    std::array<int, max_dimensions>;  // to a neighbor in the process grid: each -1, 0 or 1

/// One rank's place in the process grid. Dimensions are in memory order from here on: dimension 0
/// is the fastest, whatever the job's order was; unused dimensions have extent 1 and no halo.
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
    /// Beyond both sides of a folded dimension ghosts are cells before that side, mirrored along
    /// another dimension.
    struct Fold {
        std::size_t folded, mirrored;
    };
    std::optional<Fold> fold = std::nullopt;
};

HaloGeometry make_geometry(const HaloParams& params, int rank);

/// Offsets to all places around a rank, and those of them where there is a neighbor. In the same
/// order on all ranks.
std::vector<Offset> all_offsets(const HaloGeometry& geometry);
std::vector<Offset> neighbor_offsets(const HaloGeometry& geometry);

int offset_number(const Offset& offset);
Offset opposite(const Offset& offset);

/// The rank one step away; empty beyond an end that is not periodic.
std::optional<int> neighbor_rank(const HaloGeometry& geometry, const Offset& offset);

/// Owned cells that the neighbor at `offset` needs, and ghosts that come from there, as boxes of
/// the extended array.
Box send_box(const HaloGeometry& geometry, const Offset& offset);
Box ghost_box(const HaloGeometry& geometry, const Offset& offset);

Coordinates extended(const HaloGeometry& geometry);
std::int64_t cells_per_array(const HaloGeometry& geometry);

}  // namespace parhelion::bench

// Whether two arrays that are named at a call are partly the same memory.
#pragma once

#include <cstdint>

#include "parhelion/index_map/buffered_exchange.hpp"
#include "plan/overlap.hpp"

namespace parhelion {

/// Whether the first `a_cells` cells of `a` and the first `b_cells` of `b`, all of `width` bytes, have a byte in common.
inline bool share_memory(CellArray a, byte_count a_cells, CellArray b, byte_count b_cells, byte_count width) {
    const auto footprint = [width](CellArray array, byte_count cells) {
        const auto address = static_cast<byte_count>(reinterpret_cast<std::intptr_t>(array.first));
        return Footprint{address, width, 1, {array.first ? cells : 0}, {array.stride}};
    };
    return overlap(footprint(a, a_cells), footprint(b, b_cells));
}

}  // namespace parhelion

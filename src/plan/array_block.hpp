// Memory ranges of arrays.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// First owned cell of a block and the byte range of its cells, ghosts included.
struct ArrayBlock {
    const std::byte* first = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;

    bool empty() const { return begin == end; }
    ArrayBlock moved_to(const std::byte* place) const {
        return {place, place + (begin - first), place + (end - first)};
    }
};

/// Byte range of block `b` of field `f`, ghosts included; empty if the rank has no cells in it.
ArrayBlock array_block(const Plan& plan, std::size_t f, std::size_t b);

/// Like array_block, but empty if forward exchanges never write the block: owned cells of an index
/// map.
ArrayBlock written_block(const Plan& plan, std::size_t f, std::size_t b);

/// "on device 0", "in the host's memory". Local.
std::string place_text(const std::byte* array);

/// Throws Error if the array is on a device. `on_many_calls`: only queries a loaded driver. Local.
void require_on_host(const std::byte* array, bool on_many_calls = false);
void require_on_host(const Field& field, bool on_many_calls = false);

}  // namespace parhelion

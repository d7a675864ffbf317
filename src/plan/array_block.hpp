// The memory that an array takes.
#pragma once

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// A block of an array as its owner sees it: its first owned cell, and the bytes that cells and
/// ghosts lie in.
struct ArrayBlock {
    const std::byte* first = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;

    bool empty() const { return begin == end; }
    ArrayBlock moved_to(const std::byte* place) const {
        return {place, place + (begin - first), place + (end - first)};
    }
};

/// The bytes of block `b` of field `f`, ghosts included.
/// Empty where the rank has no cells in it.
ArrayBlock array_block(const Plan& plan, std::size_t f, std::size_t b);

/// The same, where neighbors write into it in a forward exchange, else empty: owned cells of an
/// index map have a place of their own.
ArrayBlock written_block(const Plan& plan, std::size_t f, std::size_t b);

/// "on device 0", "in the host's memory". Local.
std::string place_text(const std::byte* array);

/// Throws Error where the array is on a device. On many calls: only if a driver is known. Local.
void require_on_host(const std::byte* array, bool on_many_calls = false);
void require_on_host(const Field& field, bool on_many_calls = false);

}  // namespace parhelion

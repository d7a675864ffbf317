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

}  // namespace parhelion

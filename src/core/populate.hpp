// Mapping pages at once instead of one by one, when they are touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace parhelion {

/// Enters pages that are there already into the page table of a shared mapping: many per step,
/// where a fault or MAP_POPULATE takes one. Linux before 5.14 does not know it; pages are then
/// mapped when they are touched.
inline void map_pages_now(void* start, std::size_t bytes) {
    constexpr int populate_read = 22;  // MADV_POPULATE_READ, which older headers lack
    madvise(start, bytes, populate_read);
}

}  // namespace parhelion

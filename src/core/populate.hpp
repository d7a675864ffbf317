#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace parhelion {

/// Maps a shared mapping's existing pages, many per step; faults and MAP_POPULATE map one. No-op
/// before Linux 5.14.
inline void map_pages_now(void* start, std::size_t bytes) {
  constexpr int populate_read = 22;  // MADV_POPULATE_READ, missing in older headers
  madvise(start, bytes, populate_read);
}

}  // namespace parhelion

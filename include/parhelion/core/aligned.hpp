// Private memory, aligned to cache lines.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Deleter of AlignedBytes.
struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
/// From allocate_aligned.
using AlignedBytes = std::unique_ptr<std::byte[], FreeBytes>;

/// `bytes` rounded up to a multiple of 64.
constexpr byte_count whole_lines(byte_count bytes) { return (bytes + 63) / 64 * 64; }

/// At least `bytes` bytes, aligned to 64. Throws std::bad_alloc.
inline AlignedBytes allocate_aligned(byte_count bytes) {
  const auto size = static_cast<std::size_t>((bytes + 127) / 64 * 64);
  void* memory = std::aligned_alloc(64, size);
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedBytes(static_cast<std::byte*>(memory));
}

}  // namespace parhelion

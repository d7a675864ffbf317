// Node-shared memory: the other ranks of a node can map it.
#pragma once

#include <memory>
#include <optional>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Zeroed bytes, aligned to 64, that the same user's processes on this node can map. Local.
///
/// The caller touches all pages at once: they lie in its NUMA domain, and later writes cannot fail.
/// The memory is a memfd, of which no file remains after the process, with huge pages if the kernel
/// offers them. The last copy of the pointer frees it; exchanges that use it hold a copy. Requests
/// of up to 64 KiB share descriptors: their memory returns to the system when the last one in its 1
/// MiB is freed. Errors: not enough memory, no memfd in this kernel, too many open files.
std::shared_ptr<std::byte> allocate_node_shared(byte_count bytes);

/// Position of an address in node-shared memory.
struct SharedPlace {
  std::shared_ptr<const void> keep;  ///< keeps the mapping alive
  int descriptor = -1;               ///< of the memfd in this process
  std::uint64_t identity = 0;        ///< of the memfd on this node, never reused
  byte_count size = 0;               ///< of the memfd
  byte_count offset = 0;             ///< of the address in it
};

/// Position of `address`; empty if not from allocate_node_shared. Local.
std::optional<SharedPlace> find_node_shared(const void* address);

/// How often node-shared memory was freed. While constant, results of find_node_shared stay valid.
/// Local.
std::uint64_t node_shared_returns();

namespace detail {
void* pool_allocate(std::size_t bytes, std::size_t alignment);
void pool_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept;
}  // namespace detail

/// For containers: `std::vector<double, NodeAllocator<double>>`. Small requests share a mapping.
/// Thread-safe.
template <class T>
class NodeAllocator {
 public:
  using value_type = T;
  NodeAllocator() = default;
  template <class U>
  NodeAllocator(const NodeAllocator<U>&) noexcept {}
  /// Throws std::bad_alloc; std::bad_array_new_length if the size overflows.
  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(detail::pool_allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* pointer, std::size_t count) noexcept {
    detail::pool_deallocate(pointer, count * sizeof(T), alignof(T));
  }
  template <class U>
  friend bool operator==(const NodeAllocator&, const NodeAllocator<U>&) noexcept {
    return true;
  }
};

}  // namespace parhelion

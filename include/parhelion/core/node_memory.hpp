// Memory that the other ranks of a node can map.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// `bytes` zeroed bytes in memory that processes of the same user on this node can map, aligned
/// to 64. Local.
///
/// The pages are taken at once by the caller, hence lie in its NUMA domain, and writing to them
/// never fails later. There is no name in any file system (memfd), so nothing stays behind however
/// the process ends; others get at it only through this process, with the same user's rights. Huge
/// pages are asked for where the kernel gives them to shared memory. The last copy of the pointer
/// frees it; an exchange that uses it keeps it alive. Requests of up to 64 KiB share descriptors:
/// their memory goes back to the system with the last one of 1 MiB. Errors: not enough memory, no
/// memfd in this kernel, too many open files.
std::shared_ptr<std::byte> allocate_node_shared(byte_count bytes);

/// Where an address lies in node-shared memory.
struct SharedPlace {
    std::shared_ptr<const void> keep;  ///< keeps the mapping alive
    int descriptor = -1;               ///< of the memfd in this process
    std::uint64_t identity = 0;        ///< of the memfd on this node, never used again
    byte_count size = 0;               ///< of the memfd
    byte_count offset = 0;             ///< of the address in it
};

/// Empty when the address was not allocated by allocate_node_shared. Local.
std::optional<SharedPlace> find_node_shared(const void* address);

/// How often node-shared memory has been given back: as long as it is the same, an address that was
/// found stays where it was. Local.
std::uint64_t node_shared_returns();

/// For containers: `std::vector<double, NodeAllocator<double>>`. Small requests share a mapping.
/// Thread-safe.
template <class T>
class NodeAllocator {
public:
    using value_type = T;
    NodeAllocator() = default;
    template <class U>
    NodeAllocator(const NodeAllocator<U>&) noexcept {}
    /// Memory that the ranks of the node can map. Throws std::bad_alloc; std::bad_array_new_length
    /// for more than an address can tell.
    T* allocate(std::size_t count);
    void deallocate(T* pointer, std::size_t count) noexcept;
    template <class U>
    friend bool operator==(const NodeAllocator&, const NodeAllocator<U>&) noexcept {
        return true;
    }
};

namespace detail {
void* pool_allocate(std::size_t bytes, std::size_t alignment);
void pool_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept;
}  // namespace detail

template <class T>
T* NodeAllocator<T>::allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(detail::pool_allocate(count * sizeof(T), alignof(T)));
}
template <class T>
void NodeAllocator<T>::deallocate(T* pointer, std::size_t count) noexcept {
    detail::pool_deallocate(pointer, count * sizeof(T), alignof(T));
}

}  // namespace parhelion

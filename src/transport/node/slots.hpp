// Numbered messages in the receiver's memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "parhelion/core/node_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion::slots {

constexpr byte_count line = 64;
constexpr byte_count small_offset = 16;  // of a message that shares a line with its number

/// A slot is a number and the message behind it, on the same cache line where it is small.
constexpr byte_count payload_offset(byte_count bytes) { return bytes <= line - small_offset ? small_offset : line; }
constexpr byte_count slot_bytes(byte_count bytes) { return (payload_offset(bytes) + bytes + line - 1) / line * line; }

inline std::atomic<std::uint64_t>& number_at(std::byte* slot) { return *reinterpret_cast<std::atomic<std::uint64_t>*>(slot); }

/// Node-shared memory for slots, which must be numbered before use: what is recycled has old numbers. Local.
inline std::shared_ptr<std::byte> make_bytes(byte_count bytes) {
    const auto lines = static_cast<std::size_t>(bytes / line + 1);
    auto* first = NodeAllocator<SequenceLine>().allocate(lines);
    return {reinterpret_cast<std::byte*>(first), [lines](std::byte* memory) {
                NodeAllocator<SequenceLine>().deallocate(reinterpret_cast<SequenceLine*>(memory), lines);
            }};
}

}  // namespace parhelion::slots

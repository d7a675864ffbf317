// Numbered messages in the receiver's memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "parhelion/core/aligned.hpp"
#include "parhelion/core/node_memory.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion::slots {

constexpr byte_count line = 64;
constexpr byte_count small_offset = 16;  // of a message that shares a line with its number

/// A slot is a number and the message behind it, on the same cache line where it is small.
constexpr byte_count payload_offset(byte_count bytes) {
    return bytes <= line - small_offset ? small_offset : line;
}
constexpr byte_count slot_bytes(byte_count bytes) {
    return whole_lines(payload_offset(bytes) + bytes);
}

inline std::atomic<std::uint64_t>& number_at(std::byte* slot) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(slot);
}

/// Memory that a neighbor on the node can map. What is allocated may hold old numbers.
class Memory {
public:
    virtual ~Memory() = default;
    /// At least `bytes` bytes, aligned to a line. Local. Throws Error when there is none.
    virtual std::shared_ptr<std::byte> allocate(byte_count bytes) = 0;
    /// Writes down where `place`, inside what was allocated here, is found by a neighbor.
    virtual void describe(Words& header, std::byte* place) const = 0;
    /// Maps what the rank has described.
    virtual std::shared_ptr<std::byte> find(WordReader& header, int rank) = 0;
};

/// The library's own: memfds.
class NodeMemory final : public Memory {
public:
    std::shared_ptr<std::byte> allocate(byte_count bytes) override {
        const auto lines = static_cast<std::size_t>(bytes / line + 1);
        auto* first = NodeAllocator<SequenceLine>().allocate(lines);
        return {reinterpret_cast<std::byte*>(first), [lines](std::byte* memory) {
                    NodeAllocator<SequenceLine>().deallocate(
                        reinterpret_cast<SequenceLine*>(memory), lines);
                }};
    }
    void describe(Words& header, std::byte* place) const override {
        put_place(header, describe_place(place));
    }
    std::shared_ptr<std::byte> find(WordReader& header, int) override {
        return map_place(get_place(header));
    }
};

/// Slots of a ring. Between ranks that both send two are enough. Where only one does, it ends an
/// exchange when its reader is done with the one before the last, so that a slot is free whenever
/// it begins the next.
constexpr std::uint64_t slot_count(bool one_way) { return one_way ? 3 : 2; }
constexpr std::uint64_t unread_at_end = 2;

/// What one rank keeps for a neighbor: a line on which it acknowledges, and the slots behind it.
constexpr byte_count ring_bytes(byte_count slot, bool one_way) {
    return line + static_cast<byte_count>(slot_count(one_way)) * slot;
}
inline SequenceLine& acknowledged(std::byte* ring) {
    return *reinterpret_cast<SequenceLine*>(ring);
}

}  // namespace parhelion::slots

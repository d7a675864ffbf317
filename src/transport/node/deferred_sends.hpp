// Messages that a rank leaves in its own memory, for neighbors that cannot take them yet and will
// not find it waiting.
//
// The memory is made when it is first needed, and mapped by the neighbor when it first finds a
// message there: a program that never leaves one pays nothing. Messages that are larger than a
// limit are not left, for they would take several times their memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/environment.hpp"
#include "parhelion/core/aligned.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

/// How many messages of a link may be left and unread. Two ranks that both send are never further
/// apart than two exchanges; a rank that only sends ends an exchange when its reader has begun all
/// but the last two.
constexpr std::uint64_t deferred_slots(bool one_way) { return one_way ? 4 : 2; }

/// Whether exchange `number` of a sender can be left when the reader has begun `begun`, and so
/// ended one less.
constexpr bool has_deferred_slot(std::uint64_t number, std::uint64_t begun, bool one_way) {
    return number <= deferred_slots(one_way) || begun + deferred_slots(one_way) > number;
}

/// The largest message that is left, in bytes: the environment variable PARHELION_BEGIN_BYTES, else
/// 16 MiB.
inline byte_count largest_deferred() {
    static const byte_count limit =
        number_told("PARHELION_BEGIN_BYTES").value_or(byte_count{16} << 20);
    return limit;
}

/// What the sender tells, in the reader's memory: which exchanges it has left, and where all of
/// them are.
struct DeferredNote {
    alignas(64) std::array<std::atomic<std::uint64_t>, deferred_slots(true)> numbers{};
    alignas(64) RemotePlace place;

    bool is_deferred(std::uint64_t number, bool one_way) const {
        return numbers[number % deferred_slots(one_way)].load(std::memory_order_relaxed) == number;
    }
};

/// One link's messages: a line on which the reader tells what it has read, and the slots.
struct DeferredBox {
    std::byte* start = nullptr;
    byte_count message = 0;  ///< bytes
    bool one_way = false;

    byte_count bytes() const {
        return line + static_cast<byte_count>(deferred_slots(one_way)) * whole_lines(message);
    }
    std::byte* slot(std::uint64_t number) const {
        return start + line +
               static_cast<byte_count>(number % deferred_slots(one_way)) * whole_lines(message);
    }
    std::atomic<std::uint64_t>& taken() const {
        return reinterpret_cast<SequenceLine*>(start)->value;
    }

private:
    static constexpr byte_count line = sizeof(SequenceLine);
};

}  // namespace parhelion

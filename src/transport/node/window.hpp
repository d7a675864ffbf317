// A few places that the parts of long messages pass through while there is room, so that both ranks
// keep them in their caches.
//
// The slots of a message of megabytes are fetched from far and pushed out again with every
// exchange, and the fields with them. A window is short. The sender never waits for it: a part that
// finds no free place goes into the slot. So a rank may still send everything before its neighbor
// looks.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "transport/node/slots.hpp"

namespace parhelion::slots {

/// How many places there are and how long they are; none where slots do as well. Equal on both
/// sides.
struct WindowShape {
    std::uint64_t places = 0;
    byte_count place = 0;

    WindowShape() = default;
    /// For slots of `slot` bytes with parts of at most `part` bytes.
    WindowShape(byte_count slot, byte_count part) : place(whole_lines(part)) {
        // Measured with 1 MiB of second-level cache: from 1.3 MB a message 10 to 25 % faster, below
        // 0.9 MB up to 4 % slower.
        constexpr byte_count worthwhile = 1 << 20, whole = 256 << 10;
        if (slot > worthwhile && place <= whole / 4)
            places = std::bit_floor(static_cast<std::uint64_t>(whole / place));
    }
    byte_count bytes() const {
        return places == 0 ? 0 : line + static_cast<byte_count>(places) * place;
    }
};

/// One rank's end of a window: it either fills places or empties them, both in order.
class Window {
public:
    /// Over `shape.bytes()` bytes at `memory`; the reader's end starts the count of places read.
    void open(const WindowShape& shape, std::byte* memory) {
        shape_ = shape;
        memory_ = memory;
    }
    void reset_count() const {
        if (shape_.places > 0) new (memory_) SequenceLine;
    }

    /// Sender: whether the next place is free. What the reader did with it happened before.
    bool has_room() {
        if (filled_ - emptied_ < shape_.places) return true;
        if (shape_.places == 0) return false;
        emptied_ = count().load(std::memory_order_acquire);
        return filled_ - emptied_ < shape_.places;
    }
    /// Sender: the place to fill next.
    std::byte* next() const { return place(filled_); }
    /// Sender: takes it, after has_room().
    std::byte* fill() { return place(filled_++); }
    /// Reader: the place that was filled first of those not emptied, and the one after it.
    std::byte* front() const { return place(emptied_); }
    std::byte* second() const { return place(emptied_ + 1); }
    /// Reader: gives that place back.
    void empty() { count().store(++emptied_, std::memory_order_release); }

private:
    std::atomic<std::uint64_t>& count() const {
        return reinterpret_cast<SequenceLine*>(memory_)->value;
    }
    std::byte* place(std::uint64_t i) const {
        return memory_ + line + static_cast<byte_count>(i & (shape_.places - 1)) * shape_.place;
    }

    WindowShape shape_;
    std::byte* memory_ = nullptr;
    std::uint64_t filled_ = 0, emptied_ = 0;  // places so far; the sender's `emptied_` may be old
};

}  // namespace parhelion::slots

// Messages between nodes as the ranks of one node have them before them: slices of what it owes, or is owed.
#pragma once

#include <atomic>
#include <compare>
#include <memory>
#include <new>
#include <vector>

#include "parhelion/core/aligned.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node_aware/bundle.hpp"

namespace parhelion {

/// Two numbers that one rank writes and one polls.
struct alignas(64) Told {
    std::atomic<std::uint64_t> number{0};  ///< its part of this exchange is there; it has read the message of this exchange
    std::atomic<std::uint64_t> over{0};    ///< it has ended this exchange, and looks at nothing here before it begins the next
};

/// A message in its carrier's memory: what the carrier tells, what each rank that may have to do with it tells, two slots.
struct SliceMemory {
    std::byte* start = nullptr;
    std::size_t ranks = 0;  ///< candidates of the route
    byte_count bytes = 0;

    byte_count size() const { return lines() + 2 * whole_lines(bytes); }
    void construct() const {
        for (std::size_t i = 0; i <= ranks; ++i) new (start + i * sizeof(Told)) Told;  // recycled memory has old numbers
    }
    Told& carrier() const { return *reinterpret_cast<Told*>(start); }
    Told& line(int candidate) const { return reinterpret_cast<Told*>(start)[1 + candidate]; }
    std::byte* slot(std::uint64_t number) const { return start + lines() + static_cast<byte_count>(number % 2) * whole_lines(bytes); }

private:
    byte_count lines() const { return static_cast<byte_count>((ranks + 1) * sizeof(Told)); }
};

/// Messages are named by the other node and their number, as it leaves or comes.
struct SliceName {
    int node = 0, slice = 0;
    bool comes = false;
    friend auto operator<=>(const SliceName&, const SliceName&) = default;
};

/// A message that this rank sends, or receives, for its node.
struct Carried {
    SliceName name;
    int peer = 0;  ///< the rank of the other node
    SliceMemory memory;
    int channel = 0;
    std::vector<int> users;                ///< lines of those that put something into it, or read it
    std::vector<NodeNeighbor*> neighbors;  ///< the same but for this rank
    bool moved = true;                     ///< in this exchange: is on its way, or has come
};

/// A message that this rank puts something into, or reads.
struct Used {
    SliceName name;
    int carrier_rank = 0;
    NodeNeighbor* carrier = nullptr;  ///< null: this rank itself
    SliceMemory memory;
    int line = 0;  ///< this rank's
    std::shared_ptr<std::byte> keep;
};
struct Given : Used {
    Bundle bundle;
    byte_count offset = 0;  ///< of the bundle in the message
};
struct Read : Used {
    int slots = 0, left = 0;
    std::vector<int> senders;  ///< on the other node, ascending
};

/// Where the message of a link is found.
struct Slot {
    std::size_t read = 0;
    FromBundle from;
    bool receives = false, reported = true;
};

}  // namespace parhelion

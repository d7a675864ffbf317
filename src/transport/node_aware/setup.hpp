// Who of a node carries what, and where it lies.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "parhelion/transport/transport.hpp"
#include "transport/messenger.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node_aware/bundle.hpp"

namespace parhelion {

/// All that a node has to do with another. Every rank of the node has the same.
struct Route {
    struct Part {
        int node_rank, slice;
        byte_count offset, bytes;
    };
    int node = 0;
    std::vector<int> candidates;  ///< ranks of the communicator that have a neighbor there; whoever
                                  ///< is first has the first message
    std::vector<byte_count> slices;  ///< bytes of each message
    std::vector<Part> parts;         ///< of what goes there, by rank
    std::int64_t pairs = 0, bytes_in_pairs = 0;

    const Part* part_of(int node_rank) const;
    int candidate(int rank) const;  ///< which of them the rank of the communicator is
};

/// Two numbers that one rank writes and one polls.
struct alignas(64) Told {
    /// Its part of this exchange is there; it has read the message of this exchange.
    std::atomic<std::uint64_t> number{0};
    /// It has ended this exchange, and looks at nothing here before it begins the next.
    std::atomic<std::uint64_t> over{0};
};

/// A message in its carrier's memory: what the carrier tells, what each rank that may have to do
/// with it tells, two slots.
struct SliceMemory {
    std::byte* start = nullptr;
    std::size_t ranks = 0;  ///< candidates of the route
    byte_count bytes = 0;

    byte_count size() const { return lines() + 2 * whole_lines(bytes); }
    void construct() const {
        for (std::size_t i = 0; i <= ranks; ++i)
            new (start + i * sizeof(Told)) Told;  // recycled memory has old numbers
    }
    Told& carrier() const { return *reinterpret_cast<Told*>(start); }
    Told& line(int candidate) const { return reinterpret_cast<Told*>(start)[1 + candidate]; }
    std::byte* slot(std::uint64_t number) const {
        return start + lines() + static_cast<byte_count>(number % 2) * whole_lines(bytes);
    }

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
    std::vector<int> users;  ///< lines of those that put something into it, or read it
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
    Event copied = {};    ///< behind what packs, or reads
    bool untold = false;  ///< and the carrier does not know
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

/// What one rank has to do in each exchange with other nodes, in one direction.
struct NodeWork {
    std::vector<int> ranks;  ///< of the node
    int node_rank = 0;
    std::vector<NodeTraffic> traffic;  ///< of the node
    std::vector<Route> routes;         ///< to the nodes of this rank's neighbors
    std::vector<Slot> slots;           ///< by link
    std::vector<Given> given;
    std::vector<Read> reads;
    std::vector<Carried> sent, got;
    std::shared_ptr<std::byte> memory;           ///< of what it carries
    std::deque<std::vector<local_index>> lists;  ///< that programs use

    const Route& route_to(int node) const { return *std::ranges::find(routes, node, &Route::node); }
};

/// Collective. What the node's ranks tell is gathered at its first rank and spread: no rank sends
/// more than a few headers, none knows of a node with which its own has nothing to do. The
/// context's links are those to other nodes.
NodeWork set_up_node(const TransportContext& context);

/// One channel with each rank of another node to which, or from which, this one carries a message;
/// it has one tag in both directions. Of exchanges with this number, mod 2.
std::vector<Channel> make_channels(NodeWork& work, std::uint64_t number);

}  // namespace parhelion

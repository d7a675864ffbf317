// Carriers of messages between nodes, and their memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <deque>
#include <memory>
#include <vector>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/messenger.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node_aware/bundle.hpp"

namespace parhelion {

/// Messages between this node and another. Equal on all ranks of the node.
struct Route {
  struct Part {
    int node_rank, slice;
    byte_count offset, bytes;
  };
  int node = 0;
  std::vector<int> candidates;     ///< ranks with a neighbor there; the first carries the first
                                   ///< message
  std::vector<byte_count> slices;  ///< message bytes
  std::vector<Part> parts;         ///< bundles, by node rank
  std::int64_t pairs = 0, bytes_in_pairs = 0;

  const Part* part_of(int node_rank) const;
  int candidate(int rank) const;  ///< index in candidates
};

/// Numbers that one rank writes and another polls.
struct alignas(64) Told {
  std::atomic<std::uint64_t> number{0};  ///< last exchange packed, or read
  std::atomic<std::uint64_t> over{0};    ///< last exchange ended: it polls no more
};

/// A message in its carrier's memory: numbers of the carrier and each candidate, two slots.
struct SliceMemory {
  std::byte* start = nullptr;
  std::size_t ranks = 0;  ///< candidates of the route
  byte_count bytes = 0;

  byte_count size() const { return lines() + 2 * whole_lines(bytes); }
  Told& carrier() const { return *reinterpret_cast<Told*>(start); }
  Told& line(int candidate) const { return reinterpret_cast<Told*>(start)[1 + candidate]; }
  std::byte* slot(std::uint64_t number) const {
    return start + lines() + number % 2 * whole_lines(bytes);
  }

 private:
  byte_count lines() const { return (ranks + 1) * sizeof(Told); }
};

struct SliceName {
  int node = 0, slice = 0;
  bool comes = false;
  friend auto operator<=>(const SliceName&, const SliceName&) = default;
};

/// A message that this rank sends or receives for its node.
struct Carried {
  SliceName name;
  int peer = 0;  ///< rank on the other node
  SliceMemory memory;
  int channel = 0;
  std::vector<int> users;                ///< lines of ranks that write or read it
  std::vector<NodeNeighbor*> neighbors;  ///< the same without this rank
  bool moved = true;                     ///< sent or received in this exchange
};

/// A message that this rank packs a bundle into, or reads.
struct Used {
  SliceName name;
  int carrier_rank = 0;
  NodeNeighbor* carrier = nullptr;  ///< null: this rank
  SliceMemory memory;
  int line = 0;  ///< this rank's
  std::shared_ptr<std::byte> keep;
  Event copied = {};    ///< after packing or reading
  bool untold = false;  ///< carrier not signaled yet
};
struct Given : Used {
  Bundle bundle;
  byte_count offset = 0;  ///< of the bundle in the message
};
struct Read : Used {
  int slots = 0, left = 0;
  std::vector<int> senders;  ///< on the other node, ascending
};

struct Slot {
  std::size_t read = 0;
  FromBundle from;
  bool receives = false, reported = true;
};

/// One rank's work in each exchange.
struct NodeWork {
  std::vector<int> ranks;  ///< of the node
  int node_rank = 0;
  std::vector<NodeTraffic> traffic;  ///< of the node
  std::vector<Route> routes;         ///< to the nodes of this rank's neighbors
  std::vector<Slot> slots;           ///< by link
  std::vector<Given> given;
  std::vector<Read> reads;
  std::vector<Carried> sent, got;
  std::shared_ptr<std::byte> memory;           ///< of carried messages
  std::deque<std::vector<local_index>> lists;  ///< used by programs

  const Route& route_to(int node) const { return *std::ranges::find(routes, node, &Route::node); }
};

/// Collective. Gathers data at the node's first rank: no rank sends more than a few headers or
/// learns of nodes that its own does not exchange with. The context's links are those to other
/// nodes.
NodeWork set_up_node(const TransportContext& context);

/// One channel per rank of another node that this rank exchanges messages with, for exchanges of
/// `number`'s parity.
std::vector<Channel> make_channels(NodeWork& work, std::uint64_t number);

}  // namespace parhelion

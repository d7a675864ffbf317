// Interface of transports, which move bytes between this rank and its neighbors, and their
// registry.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/plan/bound_arrays.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

class NodeContext;
class Queue;

/// Traffic from this rank's node to one other in one exchange, for transports that aggregate
/// messages.
struct NodeTraffic {
    int node = 0;            ///< lowest rank of the other node
    std::int64_t pairs = 0;  ///< number of rank-to-rank messages without aggregation
    byte_count bytes_in_pairs = 0;
    std::int64_t messages = 0;  ///< number with aggregation
    byte_count bytes = 0;       ///< with each cell sent once per destination node
};

/// Moves the data of its links in one direction. Links are numbered 0 … n−1 in the order given
/// ("slots"). Copies are enqueued on the context's queue; a neighbor is notified of a message only
/// after an event recorded behind its copies completes.
///
/// One exchange: begin; ready/deliver until every receiving slot has been delivered; finished until
/// it returns true. ready and finished make progress and never block. Delivered data is visible
/// once the queue completes, before the next begin. Nothing is allocated after construction unless
/// stated.
class Transport {
public:
    /// May run during a failed exchange: cancels pending MPI receives; leaves buffers of pending
    /// sends allocated.
    virtual ~Transport() = default;

    /// Called before begin after binding other arrays. Returns the reason why it cannot move them;
    /// empty if it can. Local.
    virtual std::string refusal() { return {}; }
    /// Starts everything that does not depend on a neighbor. Local.
    virtual void begin() = 0;
    /// Called after begin if the caller may end the exchange much later: makes data available to
    /// neighbors without further calls on this rank.
    virtual void leave() {}
    /// Returns a slot whose data has arrived and has not been reported yet, or −1.
    virtual int ready() = 0;
    /// Enqueues the copies from a ready slot to the arrays. A reverse exchange combines with the
    /// present values (forward: `replace`).
    virtual void deliver(int slot, Reduction reduction) = 0;
    /// Whether neighbors no longer need this rank's arrays for this exchange: their data has been
    /// copied and sent.
    virtual bool finished() = 0;
    /// Number of slots that deliver data.
    virtual int expected() const = 0;
    /// The state of both sides of a slot, for timeout errors; empty if the slot is not waiting for
    /// its neighbor.
    virtual std::string state(int slot) const = 0;

    /// Messages to each node, with and without aggregation.
    virtual std::vector<NodeTraffic> traffic() const { return {}; }

    /// Lets a rank sleep until a neighbor makes progress; for transports inside a node.
    virtual NodeContext* node() const { return nullptr; }
    /// Whether it progresses only when polled, because arrivals wake nobody.
    virtual bool must_poll() const { return node() == nullptr; }
    /// Whether neighbors, or ranks of this node, depend on this rank to end their exchange, because
    /// it forwards their messages.
    virtual bool passes_on() const { return false; }
    /// Whether polling calls MPI, which may not support calls from any thread.
    virtual bool calls_mpi() const { return must_poll(); }
};

/// Arguments of a transport's constructor. Construction is collective over the communicator: every
/// rank constructs it, even without links. Plan and arrays must outlive it.
struct TransportContext {
    const Plan& plan;
    const BoundArrays& arrays;
    Direction direction;
    Queue& queue;    ///< for all copies of the plan's arrays
    bool has_reach;  ///< whether the transport accesses the arrays' memory itself (Reach::arrays)
    std::vector<const LinkPlan*> links;
    Tag tag = {};

    /// The link's direction that this transport moves.
    const Way& way(const LinkPlan& link) const { return link.way(direction); }
    bool forward() const { return direction == Direction::forward; }
};

/// Neighbors that a transport can reach.
enum class Scope { anywhere, same_node, own_rank };

/// How a transport handles arrays of a memory space. none: not at all; own_messages: over message
/// memory of its own, if the executor can access it (Executor::reaches_host); messages: over
/// message memory from Executor::allocate, which the host can access; arrays: reads and writes the
/// arrays directly.
enum class Reach : std::uint8_t { none, own_messages, messages, arrays };

/// Properties that the tuner (`auto`) uses. By default it benchmarks a transport for every neighbor
/// in reach.
struct Traits {
    /// Reason why it cannot serve the plan with this rank's arrays; empty if it can. Local. Null:
    /// it serves any plan.
    std::function<std::string(const Plan&)> refusal = {};
    /// By memory space: host, device.
    std::array<Reach, 2> reach = {Reach::arrays, Reach::none};
    /// Writes each piece directly into the neighbor's arrays (single-copy), for large pieces. Of
    /// several such transports, the tuner benchmarks the first that takes the arrays.
    bool direct = false;
    /// Factor on its measured times in the tuner's choice: above 1 for transports that are more
    /// sensitive to noise, or to distant cores.
    double handicap = 1;
    /// Its construction creates a communicator: benchmarked only if that is cheap relative to an
    /// exchange, and no other thread may create one concurrently.
    bool makes_communicator = false;
    /// Benchmarked only if some neighbor is on another node.
    bool between_nodes = false;
    /// Ranks forward messages of others and must stay in the exchange: benchmarked only if the
    /// program has promised to call the exchange without delay. Neighbors on the same node use
    /// staged_shared.
    bool passes_on = false;
};

/// A transport's name, reach, availability and constructor.
struct TransportInfo {
    std::string name;
    std::string description;
    Scope scope;
    /// Reason why this build or machine cannot use it; empty if it can. Local. Null: always
    /// available.
    std::function<std::string()> unavailable;
    std::function<std::unique_ptr<Transport>(const TransportContext&)> make;
    Traits traits = {};
};

/// How it handles the plan's arrays. Local.
Reach reach_of(const TransportInfo& info, const Plan& plan);
/// Whether it supports the memory space of the plan's fields. Local.
bool serves_memory_of(const TransportInfo& info, const Plan& plan);

/// Reason why it cannot serve the plan (memory space, `Traits::refusal`); empty if it can. Local.
std::string refusal_of(const TransportInfo& info, const Plan& plan);

/// All transports of this build, including unavailable and registered ones. Local.
std::vector<TransportInfo> transports();

/// Registers a user-defined transport, which exchanges can select by name. Local; every rank must
/// register it before the first exchange that uses it. Throws Error if the name is taken or
/// contains one of "+|,:", or if `make` is null.
///
/// `make` returns a Transport for the links of one direction; all ranks of the communicator call it
/// together. For each link, the context has the programs that pack and unpack a message
/// (`TransportContext::way`), and the arrays, whose addresses may change before each begin
/// (`BoundArrays::bases`). The transport enqueues all copies (`TransportContext::queue`), and
/// compiles programs of its own first (`Executor::compile`). It runs a link's `repeat` after a
/// forward message, and combines the messages of a reverse exchange.
void register_transport(TransportInfo info);

/// Throws Error listing the choices if the name is unknown, or with the reason if the transport is
/// unavailable. The reference stays valid.
const TransportInfo& find_transport(const std::string& name);

}  // namespace parhelion

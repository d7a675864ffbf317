// What moves bytes between this rank and some of its neighbors.
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

/// What a rank's node sends to another in one exchange by a transport that collects it.
struct NodeTraffic {
    int node = 0;            ///< the other: its lowest rank
    std::int64_t pairs = 0;  ///< messages that it would take from rank to rank
    byte_count bytes_in_pairs = 0;
    std::int64_t messages = 0;  ///< that it takes
    byte_count bytes = 0;       ///< each cell that some rank of the other node needs once
};

/// Moves the data of the links it was given in one direction, numbered 0 … n−1 in the order given
/// ("slots"). Copies are put on the context's queue, and made when an event recorded behind them is
/// done: only then is a neighbor told of a message.
///
/// One exchange is: begin, then ready/deliver until every slot that receives has been delivered,
/// then finished until it is true. ready and finished never wait; they make progress. What was
/// delivered is there when the queue is done with it, before the next begin. Nothing is allocated
/// after construction, but where it is said.
class Transport {
public:
    /// Also while an exchange that has failed is under way: what MPI may still write is cancelled,
    /// what it may still read stays.
    virtual ~Transport() = default;

    /// When other arrays were bound, before begin: why it cannot move them, empty where it can.
    /// Local.
    virtual std::string refusal() { return {}; }
    /// Starts everything that can start without waiting for a neighbor. Local.
    virtual void begin() = 0;
    /// After begin, where the caller goes away before it ends the exchange, for who knows how long:
    /// what neighbors cannot take without this rank is put where they find it.
    virtual void leave() {}
    /// A slot whose data has arrived and was not reported yet, or −1.
    virtual int ready() = 0;
    /// Enqueues what puts a ready slot's data where it belongs; a reverse exchange combines it with
    /// what is there (forward: `replace`).
    virtual void deliver(int slot, Reduction reduction) = 0;
    /// Whether the neighbors no longer need this rank's arrays for this exchange: what they get has
    /// been copied, and sent.
    virtual bool finished() = 0;
    /// Number of slots that deliver something.
    virtual int expected() const = 0;
    /// What a slot waits for, with the state of both sides, for an error; empty when its neighbor
    /// is not waited for.
    virtual std::string state(int slot) const = 0;

    /// Where messages between nodes are collected: how many go to each node, and how many there
    /// would be.
    virtual std::vector<NodeTraffic> traffic() const { return {}; }

    /// Where a rank can sleep until a neighbor has done something, for transports inside a node.
    virtual NodeContext* node() const { return nullptr; }
    /// Whether it gets on only while it is polled: nobody rings when something has arrived.
    virtual bool must_poll() const { return node() == nullptr; }
    /// Whether neighbors, or ranks of this node, need this rank to end an exchange that they are
    /// in: it passes on what belongs to others.
    virtual bool passes_on() const { return false; }
    /// Whether polling it calls MPI, which may not serve every thread.
    virtual bool calls_mpi() const { return must_poll(); }
};

/// What a transport is made from. Making one is collective over the communicator: every rank makes
/// it, with the links that it has there, if any. Plan and arrays outlive it.
struct TransportContext {
    const Plan& plan;
    const BoundArrays& arrays;
    Direction direction;
    Queue& queue;    ///< for all copies of the plan's arrays
    bool has_reach;  ///< whether the transport moves the arrays' memory itself (Reach::arrays)
    std::vector<const LinkPlan*> links;
    Tag tag = {};

    /// The direction of a link that it moves.
    const Way& way(const LinkPlan& link) const { return link.way(direction); }
    bool forward() const { return direction == Direction::forward; }
};

/// Which neighbors a transport can reach.
enum class Scope { anywhere, same_node, own_rank };

/// What a transport can do with arrays of a memory space: nothing; move them over messages in
/// memory of its own, where their executor reaches that (Executor::reaches_host); over messages in
/// memory of the executor (Executor::allocate), which the host reaches; or read and write them
/// itself.
enum class Reach : std::uint8_t { none, own_messages, messages, arrays };

/// What `auto` has to know of a transport. Those that say nothing are tried for every neighbor in
/// reach.
struct Traits {
    /// Why it cannot serve the plan with the arrays that this rank has, empty where it can. Local.
    /// None: it takes any.
    std::function<std::string(const Plan&)> refusal = {};
    /// By memory space: the host's, a device's.
    std::array<Reach, 2> reach = {Reach::arrays, Reach::none};
    /// Writes each piece into the neighbor's arrays (single-copy): made for large pieces. Of
    /// several such transports the first that takes the arrays is tried.
    bool direct = false;
    /// Its times count so many times as much when one is chosen: more than 1 for what suffers first
    /// when something else disturbs it, or when cores are far from each other.
    double handicap = 1;
    /// Making one makes a communicator: tried only where that is cheap beside an exchange, and no
    /// other thread may make one meanwhile.
    bool makes_communicator = false;
    /// Tried only where some neighbor is on another node.
    bool between_nodes = false;
    /// Ranks pass on what belongs to others, and must stay in the exchange for it: tried only where
    /// the program has promised to call it at once. Neighbors on the own node get staged_shared.
    bool passes_on = false;
};

/// A transport's name, what it reaches, whether it works here, and how one is made.
struct TransportInfo {
    std::string name;
    std::string description;
    Scope scope;
    /// Empty where it works, else why it cannot be used with this build or machine. Local. Null: it
    /// works.
    std::function<std::string()> unavailable;
    std::function<std::unique_ptr<Transport>(const TransportContext&)> make;
    Traits traits = {};
};

/// What it can do with the plan's arrays. Local.
Reach reach_of(const TransportInfo& info, const Plan& plan);
/// Whether it moves arrays of the memory that the plan's fields lie in. Local.
bool serves_memory_of(const TransportInfo& info, const Plan& plan);

/// Why the transport cannot serve the plan, empty where it can: its arrays' memory, and what
/// `Traits::refusal` says. Local.
std::string refusal_of(const TransportInfo& info, const Plan& plan);

/// All transports that this build knows, the usable ones and the others, and those that were
/// registered. Local.
std::vector<TransportInfo> transports();

/// Adds a transport of the program's own, which exchanges can ask for by its name. Local; every
/// rank registers it, before the first exchange that uses it. Throws Error for a name that is taken
/// or holds one of "+|,:", and without `make`.
///
/// `make` gives a Transport for the links of one direction, and is called by all ranks of the
/// communicator together. The context has, for each link, the programs that pack and unpack a
/// message (`TransportContext::way`), and the arrays that they work on, which may be others at each
/// begin (`BoundArrays::bases`). All copies are enqueued (`TransportContext::queue`); programs of
/// its own are compiled first (`Executor::compile`). After a forward message a link's `repeat`
/// follows; the messages of a reverse exchange are combined.
void register_transport(TransportInfo info);

/// Throws Error naming the choices when there is none of this name, or the reason when it does not
/// work here. The reference stays good.
const TransportInfo& find_transport(const std::string& name);

}  // namespace parhelion

// What moves bytes between this rank and some of its neighbors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

class NodeContext;

/// Moves the data of the links it was given, numbered 0 … n−1 in the order given ("slots").
///
/// One exchange is: begin, then ready/deliver until every slot that receives has been delivered, then finished until it
/// is true. ready and finished never wait; they make progress. Nothing is allocated after construction.
class Transport {
public:
    virtual ~Transport() = default;

    /// Starts everything that can start without waiting for a neighbor. Local.
    virtual void begin(Direction direction) = 0;
    /// After begin, where the caller goes away before it ends the exchange, for who knows how long: what neighbors cannot take without
    /// this rank is put where they find it.
    virtual void leave(Direction /*direction*/) {}
    /// A slot whose data has arrived and was not reported yet, or −1.
    virtual int ready(Direction direction) = 0;
    /// Puts a ready slot's data where it belongs; in a reverse exchange combines it with what is there.
    virtual void deliver(int slot, Direction direction, Reduction reduction) = 0;
    /// Whether the neighbors no longer need this rank's arrays for this exchange.
    virtual bool finished(Direction direction) = 0;
    /// Number of slots that deliver something.
    virtual int expected(Direction direction) const = 0;
    /// What a slot waits for, with the state of both sides, for an error; empty when its neighbor is not waited for.
    virtual std::string state(int slot, Direction direction) const = 0;

    /// Whether a forward exchange may be begun by open_parts and put_part, so that what is finished first leaves first.
    virtual bool takes_parts() const { return false; }
    /// Instead of begin; then put_part once for each of the plan's parts, then close_parts; nothing else before that.
    virtual void open_parts() {}
    /// The part's cells have their values. By any thread, by several at once. `may_call_mpi`: this thread may; else what has to be
    /// told to MPI waits for the next call by one that may.
    virtual void put_part(int /*part*/, bool /*may_call_mpi*/) {}
    /// All parts are there. By a thread that may call MPI.
    virtual void close_parts() {}

    /// Where a rank can sleep until a neighbor has done something, for transports inside a node.
    virtual NodeContext* node() const { return nullptr; }
    /// Whether it gets on only while it is polled: nobody rings when something has arrived.
    virtual bool must_poll() const { return node() == nullptr; }
    /// Whether polling it calls MPI, which may not serve every thread.
    virtual bool calls_mpi() const { return must_poll(); }
};

/// Which directions are needed. A transport may offer more than that.
enum class Lanes { both, forward, reverse };
constexpr bool has_forward(Lanes lanes) { return lanes != Lanes::reverse; }
constexpr bool has_reverse(Lanes lanes) { return lanes != Lanes::forward; }

/// What a transport is made from. Making one is collective over the communicator: every rank makes it, with the links
/// that it has there, if any.
struct TransportContext {
    const Plan& plan;
    std::vector<const LinkPlan*> links;
    int tag = 0;
    Lanes lanes = Lanes::both;
    /// What the fastest other transport takes for a forward exchange, in seconds, equal on all ranks; 0: not known. A transport
    /// that tries several ways of its own need not try for long when it is far behind that.
    double rival_s = 0;
};

/// Which neighbors a transport can reach.
enum class Scope { anywhere, same_node, own_rank };

struct TransportInfo {
    std::string name;
    std::string description;
    Scope scope;
    /// Empty where it works, else why it cannot be used with this build or machine. Local.
    std::function<std::string()> unavailable;
    std::function<std::unique_ptr<Transport>(const TransportContext&)> make;
};

/// All transports that this build knows, the usable ones and the others.
const std::vector<TransportInfo>& transports();

/// Throws Error naming the choices when there is none of this name, or the reason when it does not work here.
const TransportInfo& find_transport(const std::string& name);

}  // namespace parhelion

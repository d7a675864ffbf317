// Transports move bytes between this rank and its neighbors.
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

/// Traffic of one exchange between this rank's node and another.
struct NodeTraffic {
  int node = 0;            ///< lowest rank of the other node
  std::int64_t pairs = 0;  ///< rank-to-rank messages without aggregation
  byte_count bytes_in_pairs = 0;
  std::int64_t messages = 0;  ///< with aggregation
  byte_count bytes = 0;       ///< with each cell sent once per destination node
};

/// Moves the data of its links ("slots" 0 … n−1, in the order given) in one direction. Copies are
/// enqueued on the context's queue; a neighbor learns of a message only after an event recorded
/// behind its copies completes.
///
/// One exchange: begin; ready/deliver until every receiving slot is delivered; finished until true.
/// ready and finished make progress and never block. Delivered data is visible once the queue
/// completes, before the next begin. Allocates nothing after construction unless stated.
class Transport {
 public:
  /// May run during a failed exchange: cancels MPI receives, keeps the buffers of pending sends.
  virtual ~Transport() = default;

  /// Called before destruction when an exchange has failed: neighbors may be in a later stage or
  /// exchange, so memory that they access must stay. Local.
  void give_up() { has_given_up_ = true; }
  bool has_given_up() const { return has_given_up_; }

  /// Reason why it cannot move newly bound arrays, called before begin; empty if it can. Local.
  virtual std::string refusal() { return {}; }
  /// Starts everything that does not depend on a neighbor. Local.
  virtual void begin() = 0;
  /// Called after begin if the caller may end much later: makes data available to neighbors.
  virtual void leave() {}
  /// A slot with data that has arrived and is not yet reported, or −1.
  virtual int ready() = 0;
  /// Enqueues the copies from a ready slot to the arrays. A reverse exchange combines (forward:
  /// `replace`).
  virtual void deliver(int slot, Reduction reduction) = 0;
  /// Whether neighbors no longer need this rank's arrays: their data is copied and sent.
  virtual bool finished() = 0;
  /// Number of slots that deliver data.
  virtual int expected() const = 0;
  /// Both sides of a slot, for timeout errors; empty unless it waits for its neighbor.
  virtual std::string state(int slot) const = 0;

  /// Messages per node, with and without aggregation.
  virtual std::vector<NodeTraffic> traffic() const { return {}; }

  /// Lets a rank sleep until a neighbor makes progress, inside a node.
  virtual NodeContext* node() const { return nullptr; }
  /// Whether it progresses only when polled: arrivals wake nobody.
  virtual bool must_poll() const { return node() == nullptr; }
  /// Whether other ranks depend on this one to end their exchange: it forwards their messages.
  virtual bool passes_on() const { return false; }
  /// Whether polling calls MPI, which may not serve every thread.
  virtual bool calls_mpi() const { return must_poll(); }

 private:
  bool has_given_up_ = false;
};

/// Arguments of a transport's constructor, which is collective: every rank calls it, even without
/// links. Plan and arrays must outlive it.
struct TransportContext {
  const Plan& plan;
  const BoundArrays& arrays;
  Direction direction;
  Queue& queue;    ///< for all copies of the plan's arrays
  bool has_reach;  ///< whether it accesses the arrays' memory (Reach::arrays)
  std::vector<const LinkPlan*> links;
  Tag tag = {};

  /// The direction of a link that it moves.
  const Way& way(const LinkPlan& link) const { return link.way(direction); }
  bool forward() const { return direction == Direction::forward; }
};

/// Neighbors in reach.
enum class Scope { anywhere, same_node, own_rank };

/// Handling of arrays in a memory space. own_messages: through its own message memory, if the
/// executor reaches it (Executor::reaches_host); messages: through Executor::allocate, which the
/// host reaches; arrays: reads and writes them directly.
enum class Reach : std::uint8_t { none, own_messages, messages, arrays };

/// Input of the tuner (`auto`), which by default benchmarks a transport for every neighbor in
/// reach.
struct Traits {
  /// Reason why it cannot serve the plan with this rank's arrays. Local. Null: serves any.
  std::function<std::string(const Plan&)> refusal = {};
  /// Whether the tuner benchmarks it unless PARHELION_AUTO adds it. Local. Null: it does.
  std::function<bool()> is_promising = {};
  /// By memory space: host, device.
  std::array<Reach, 2> reach = {Reach::arrays, Reach::none};
  /// Writes large pieces directly into the neighbor's arrays (single-copy). The tuner benchmarks
  /// the first such transport that takes the arrays.
  bool direct = false;
  /// Factor on its times when the tuner compares: above 1 if noise or distant cores slow it more.
  double handicap = 1;
  /// Constructing it creates a communicator: benchmarked only if cheap relative to an exchange;
  /// no other thread may create one meanwhile.
  bool makes_communicator = false;
  /// Benchmarked only if some neighbor is on another node.
  bool between_nodes = false;
  /// Ranks forward messages of others and must stay in the exchange: benchmarked only with
  /// ExchangeOptions::at_once. Neighbors on the same node use staged_shared.
  bool passes_on = false;
};

/// A transport's name, reach, availability and constructor.
struct TransportInfo {
  std::string name;
  std::string description;
  Scope scope;
  /// Reason why this build or machine cannot use it; empty if it can. Local. Null: it can.
  std::function<std::string()> unavailable;
  std::function<std::unique_ptr<Transport>(const TransportContext&)> make;
  Traits traits = {};
};

/// How it handles the plan's arrays.
Reach reach_of(const TransportInfo& info, const Plan& plan);
/// Whether it supports the memory of the plan's fields.
bool serves_memory_of(const TransportInfo& info, const Plan& plan);
/// Reason why it cannot serve the plan (memory, `Traits::refusal`); empty if it can. Local.
std::string refusal_of(const TransportInfo& info, const Plan& plan);

/// All transports, also unavailable and registered ones. Local.
std::vector<TransportInfo> transports();

/// Registers a user-defined transport, which exchanges select by name. Local; on every rank, before
/// the first exchange that uses it. Throws Error if the name is taken or contains one of "+|,:", or
/// if `make` is null.
///
/// `make` returns a Transport for the links of one direction; all ranks call it together. The
/// context has each link's programs that pack and unpack a message (`TransportContext::way`), and
/// the arrays, whose addresses may change before each begin (`BoundArrays::bases`). Enqueue all
/// copies (`TransportContext::queue`), compile own programs first (`Executor::compile`), run a
/// link's `repeat` after a forward message, and combine the messages of a reverse exchange.
void register_transport(TransportInfo info);

/// Throws Error with the choices if the name is unknown, or with the reason if unavailable. The
/// reference stays valid.
const TransportInfo& find_transport(const std::string& name);

}  // namespace parhelion

// Base of both directions of a single copy: a rank's arrays as its neighbors map them, and deferred
// messages in memory that a neighbor reads.
//
// In each exchange the holder of ghosts grants access to their owner. A grant names a set of arrays
// by number; the holder's table has their places. Both sides remember the last few sets, because
// time levels alternate. A holder whose arrays cannot be mapped requests deferred messages.
#pragma once

#include <array>
#include <atomic>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/peer_arrays.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {

/// Unread deferred messages per link. Two ranks that both send are at most two exchanges apart; a
/// one-way sender ends an exchange when its reader has begun all but two.
constexpr std::uint64_t deferred_slots(bool one_way) { return one_way ? 4 : 2; }

/// Whether exchange `number` has a free slot when the reader has begun `begun`, so ended one less.
constexpr bool has_deferred_slot(std::uint64_t number, std::uint64_t begun, bool one_way) {
  return number <= deferred_slots(one_way) || begun + deferred_slots(one_way) > number;
}

/// Largest deferred message in bytes: larger ones would take several times their memory.
byte_count largest_deferred();

/// The exchanges that the sender has deferred.
struct DeferredNote {
  alignas(64) std::array<std::atomic<std::uint64_t>, deferred_slots(true)> numbers{};
  alignas(64) BlockPlace place;

  bool is_deferred(std::uint64_t number, bool one_way) const {
    return numbers[number % deferred_slots(one_way)].load(std::memory_order_relaxed) == number;
  }
};

struct DeferredBox {
  std::shared_ptr<std::byte> start;
  byte_count message = 0;
  bool one_way = false;

  byte_count bytes() const { return deferred_slots(one_way) * whole_lines(message); }
  std::byte* slot(std::uint64_t number) const {
    return start.get() + number % deferred_slots(one_way) * whole_lines(message);
  }
};

/// Grants the owner access to the holder's ghosts in exchange `number`.
struct alignas(64) Grant {
  static constexpr std::uint64_t unmappable = 0;
  std::atomic<std::uint64_t> number{0};
  std::uint64_t version = 0;  ///< the holder's array set, or `unmappable`
};

/// Shared lines between two ranks.
struct SingleCopyLines {
  Grant grant;
  SequenceLine done;  ///< the owner has accessed the ghosts or read the deferred message
  DeferredNote left;
  SequenceLine taken;  ///< the reader has read the deferred message
};

constexpr std::size_t array_sets_kept = 4;  // time levels

/// Arrays used before. A set replaces the fourth one before it, on both sides.
struct ArraySet {
  std::uint64_t number = 0;  ///< 0: unused
  std::uint64_t identity = 0;
  std::vector<std::byte*> bases;
  std::vector<BlockPlace> places;
  bool mappable = true;
};

struct SingleCopySlot {
  const LinkPlan* link = nullptr;
  const Way* way = nullptr;
  NodeNeighbor* neighbor = nullptr;
  SingleCopyLines* mine = nullptr;
  SingleCopyLines* theirs = nullptr;
  std::shared_ptr<std::byte> their_lines;
  PeerPlan peer;
  std::uint64_t version = 0;  ///< the neighbor's array set in `peer`
  struct KnownSet {
    std::uint64_t number = 0;
    std::vector<std::byte*> bases;
  };
  std::array<KnownSet, array_sets_kept> known;  ///< mapped addresses
  std::shared_ptr<std::byte> their_table;
  Program copies;                   ///< between the neighbor's ghosts and this rank's cells
  DeferredBox left;                 ///< to this neighbor; forward: allocated on first use
  DeferredBox found;                ///< from this neighbor
  std::uint64_t last_deferred = 0;  ///< last deferred exchange
  std::uint64_t put = 0;            ///< last exchange whose message is delivered and signaled
  bool copying = false;             ///< pending copy for the neighbor, not signaled yet
  bool leaving = false;             ///< the copy is a deferred message
  bool taking = false;              ///< pending read, not signaled yet
  Event copied, taken;              ///< ends of those copies
  bool reported = false;

  bool sends() const { return way->send_bytes > 0; }
  bool receives() const { return way->receive_bytes > 0; }
  bool one_way() const { return sends() != receives(); }
  bool may_be_deferred() const { return sends() && way->send_bytes <= largest_deferred(); }
  bool waits(std::uint64_t number) const { return sends() && put < number; }
};

class SingleCopy : public Transport {
 public:
  SingleCopy(const TransportContext& context, const std::string& name,
      std::shared_ptr<const ArrayAccess> access);
  std::string refusal() final;
  int expected() const final;
  NodeContext* node() const final { return &node_; }

 protected:
  /// Starts an exchange of the currently bound arrays, after the queue's earlier work.
  void start();
  /// Wakes the neighbors of these slots, to which numbers were stored.
  void wake(bool (SingleCopySlot::*which)() const);
  /// Text for timeout errors.
  std::string waits_for(
      const SingleCopySlot& slot, const std::string& to, const std::string& has) const;
  /// Call in the destructor: keeps this rank's memory until late neighbors reach `awaited`, or
  /// forever, with the arrays that they may write, if `given_up`.
  void release_memory(bool given_up, std::vector<Awaited> awaited);
  /// Updates the neighbor's array addresses to its granted set. Returns false when they cannot be
  /// mapped.
  bool follow(SingleCopySlot& slot, const Grant& grant);
  std::uint64_t granted_set() const { return set_->mappable ? set_->number : Grant::unmappable; }
  /// Enqueues packing of a deferred message. Returns false without memory for it.
  bool pack_left(SingleCopySlot& slot);
  [[noreturn]] static void refuse_left(const SingleCopySlot& slot);
  void note_left(SingleCopySlot& slot, DeferredNote& note);
  /// Enqueues unpacking of the neighbor's deferred message.
  void take_left(SingleCopySlot& slot, const DeferredNote& note, Reduction reduction);

  const BoundArrays& arrays_;
  Queue& queue_;
  const bool forward_;
  const bool immediate_;  ///< enqueued copies complete at once
  std::vector<SingleCopySlot> slots_;
  std::shared_ptr<SingleCopyLines> lines_;
  std::shared_ptr<BlockPlace> table_;  ///< current places of the arrays, for neighbors
  std::shared_ptr<std::byte> deferred_memory_;
  std::uint64_t number_ = 0;  ///< of the exchange
  Event begun_;               ///< end of earlier work in the queue
  bool granted_ = false;      ///< in this exchange
  int patience_ = 0;          ///< polls before deferring, which copies twice

 private:
  void find_arrays(SingleCopySlot& slot);
  void find_left(SingleCopySlot& slot, const BlockPlace& place) const;
  void describe_arrays();
  ArraySet& described();
  void use(ArraySet& set);
  bool make_room();
  BlockPlace place_left(const SingleCopySlot& slot) const;
  std::vector<Words> write_headers(const TransportContext& context);
  void shake_hands(const TransportContext& context);

  const Plan& plan_;
  NodeContext& node_;
  const std::string name_;
  const std::shared_ptr<const ArrayAccess> access_;
  std::vector<ArrayBlock> blocks_;  // as at construction
  bool no_room_ = false;
  std::uint64_t version_ = 0, identity_ = 0;  // of the arrays in the table
  std::array<ArraySet, array_sets_kept> sets_;
  std::vector<BlockPlace> places_;
  ArraySet* set_ = nullptr;
  std::uint64_t newest_ = 0, in_table_ = 0;  // set numbers
};

}  // namespace parhelion

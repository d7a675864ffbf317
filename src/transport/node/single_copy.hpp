// Base of both directions of a single copy: a rank's arrays as its neighbors map them, and deferred
// messages in memory that a neighbor reads.
//
// In each exchange the holder of ghosts grants their owner access. A grant names a set of arrays by
// number; the holder's table has their places. Both sides remember the last few sets, because time
// levels alternate. A holder whose arrays cannot be mapped requests deferred messages.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/compile.hpp"
#include "transport/joined.hpp"
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

/// In bytes: larger messages would take several times their memory.
inline byte_count largest_deferred() {
  static const byte_count limit =
      number_told("PARHELION_BEGIN_BYTES").value_or(byte_count{16} << 20);
  return limit;
}

/// The exchanges deferred by the sender.
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

/// Grants the owner the holder's ghosts in exchange `number`.
struct alignas(64) Grant {
  static constexpr std::uint64_t unmappable = 0;
  std::atomic<std::uint64_t> number{0};
  std::uint64_t version = 0;  ///< the holder's array set, or `unmappable`
};

/// Shared by two ranks.
struct SingleCopyLines {
  Grant grant;
  SequenceLine done;  ///< the owner has accessed the ghosts or read the message
  DeferredNote left;
  SequenceLine taken;  ///< the reader has read the message
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
  std::shared_ptr<SingleCopyLines> theirs;
  PeerPlan peer;
  std::uint64_t version = 0;  ///< the neighbor's array set in `peer`
  struct KnownSet {
    std::uint64_t number = 0;
    std::vector<std::byte*> bases;
  };
  std::array<KnownSet, array_sets_kept> known;  ///< mapped addresses
  std::shared_ptr<BlockPlace> their_table;
  Program copies;     ///< from this rank's cells to the neighbor's ghosts or back
  DeferredBox left;   ///< to this neighbor; forward: allocated on first use
  DeferredBox found;  ///< from this neighbor
  std::uint64_t last_deferred = 0;
  std::uint64_t put = 0;    ///< last exchange delivered and signaled
  bool copying = false;     ///< pending for the neighbor, not signaled
  bool leaving = false;     ///< `copying` a deferred message
  bool taking = false;      ///< pending read, not signaled
  Event copied, taken;      ///< ends of those copies
  int joined = -1;          ///< the number of the program that copies for others, too
  bool is_claimed = false;  ///< reverse: the grant, by the owner
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
      std::shared_ptr<const ArrayAccess> access)
      : arrays_(context.arrays), queue_(context.queue), forward_(context.forward()),
        immediate_(context.plan.executor->is_immediate()), slots_(context.links.size()),
        plan_(context.plan), node_(context.plan.communicator().shared_state<NodeContext>()),
        name_(name), access_(std::move(access)) {
    for_blocks(plan_, [this](int f, int b) { blocks_.push_back(written_block(plan_, f, b)); });
    places_.resize(blocks_.size());
    shake_hands(context);
    if (!immediate_) join_copies();
  }

  std::string refusal() final {
    describe_arrays();
    for (const SingleCopySlot& slot : slots_) {
      const byte_count left =
          forward_ ? slot.way->receive_bytes : slot.way->send_bytes;  // when not mapped
      if (!set_->mappable && left > largest_deferred())
        return concat("an array is not in memory that transport ", name_, " maps, and messages of ",
            left,
            " bytes are too long to buffer: use memory as of the constructor's arrays, or raise "
            "PARHELION_BEGIN_BYTES on every rank");
    }
    return {};
  }

  int expected() const final { return std::ranges::count_if(slots_, &SingleCopySlot::receives); }

  NodeContext* node() const final { return &node_; }

 protected:
  /// Starts an exchange of the bound arrays, after the queue's earlier work.
  void start() {
    ++number_;
    if (version_ != arrays_.version() || identity_ != access_->identity(blocks_, arrays_.bases()))
      describe_arrays();
    for (SingleCopySlot& slot : slots_) slot.reported = !slot.receives();
    patience_ = node_.oversubscribed() ? 0 : 1000;  // about 20 µs
    begun_ = queue_.record();
    granted_ = false;
    for (Joined& each : joined_)
      each.missing = std::ranges::count(slots_, &each - joined_.data(), &SingleCopySlot::joined);
  }

  /// Wakes the neighbors of these slots, to which numbers were stored.
  void wake(bool (SingleCopySlot::*which)() const) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const SingleCopySlot& slot : slots_)
      if ((slot.*which)()) wake_if_asleep(*slot.neighbor->mailbox);
  }

  std::string waits_for(
      const SingleCopySlot& slot, const std::string& to, const std::string& has) const {
    return concat("waiting for rank ", slot.link->rank, " to ", to, " number ", number_,
        " (it has ", has, ")");
  }

  /// Call in the destructor: keeps this rank's memory until late neighbors are done or, if
  /// `given_up`, forever, with the arrays that they may write.
  template <class List>
  void release_memory(bool given_up, List&& list) {
    if (given_up) {
      orphan(lines_);
      orphan(table_);
      orphan(deferred_memory_);
      if (forward_) orphan_arrays(arrays_);
      return;
    }
    orphan_until_done(lines_, list);
    if (deferred_memory_) orphan_until_done(deferred_memory_, list);
  }

  /// Updates the neighbor's array addresses to the granted set. Returns false if unmappable.
  bool follow(SingleCopySlot& slot, const Grant& grant) {
    if (grant.version == Grant::unmappable) return false;
    if (grant.version == slot.version) return true;
    SingleCopySlot::KnownSet& known = slot.known[grant.version % array_sets_kept];
    if (known.number != grant.version) {
      find_arrays(slot);
      known.number = grant.version;
      known.bases.assign(slot.peer.plan.bases.begin(), slot.peer.plan.bases.end());
    }
    std::copy(known.bases.begin(), known.bases.end(), slot.peer.plan.bases.begin());
    slot.version = grant.version;
    return true;
  }

  std::uint64_t granted_set() const { return set_->mappable ? set_->number : Grant::unmappable; }
  /// Enqueues packing of a deferred message. Returns false if out of memory.
  bool pack_left(SingleCopySlot& slot) {
    if (!make_room()) return false;
    std::byte* const message[1] = {slot.left.slot(number_)};
    queue_.enqueue(slot.way->pack, arrays_.bases(), message);
    return true;
  }

  [[noreturn]] static void refuse_left(const SingleCopySlot& slot) {
    throw Error(concat("not enough memory for a message of ", slot.way->send_bytes,
                    " bytes to rank ", slot.link->rank,
                    ", which has an array that cannot be mapped: free some, or use another "
                    "transport"),
        ErrorKind::system);
  }

  void note_left(SingleCopySlot& slot, DeferredNote& note) {
    if (slot.last_deferred == 0) note.place = place_left(slot);
    note.numbers[number_ % deferred_slots(slot.one_way())].store(
        number_, std::memory_order_relaxed);
    slot.last_deferred = number_;
  }

  void take_left(SingleCopySlot& slot, const DeferredNote& note, Reduction reduction) {
    if (!slot.found.start) find_left(slot, note.place);
    std::byte* const message[1] = {slot.found.slot(number_)};
    queue_.enqueue(slot.way->unpack, message, arrays_.bases(), reduction);
  }

  /// For slots whose arrays `follow` has found.
  void copy_joined(Joined& joined, Reduction reduction = Reduction::replace) {
    auto next = joined.bases.begin();
    for (const SingleCopySlot& slot : slots_)
      if (slot.joined >= 0 && &joined_[slot.joined] == &joined)
        next = std::ranges::copy(slot.peer.plan.bases, next).out;
    forward_ ? queue_.enqueue(joined.program, arrays_.bases(), joined.bases.data())
             : queue_.enqueue(joined.program, joined.bases.data(), arrays_.bases(), reduction);
  }

  const BoundArrays& arrays_;
  Queue& queue_;
  const bool forward_;
  const bool immediate_;  ///< enqueued copies complete at once
  std::vector<SingleCopySlot> slots_;
  std::shared_ptr<SingleCopyLines> lines_;
  std::shared_ptr<BlockPlace> table_;  ///< array places, for neighbors
  std::shared_ptr<std::byte> deferred_memory_;
  std::uint64_t number_ = 0;    ///< of the exchange
  Event begun_;                 ///< after earlier work in the queue
  bool granted_ = false;        ///< in this exchange
  int patience_ = 0;            ///< polls before deferring, which copies twice
  std::vector<Joined> joined_;  ///< on a device; forward: at most one

 private:
  // Forward: for all neighbors. Reverse: for those that combine in direct succession.
  void join_copies() {
    const LinkPlan* before = nullptr;
    for (SingleCopySlot& slot : slots_) {
      if (forward_ ? !slot.sends() : !slot.receives()) continue;
      if (before == nullptr || (!forward_ && combines_between(plan_, *before, *slot.link)))
        joined_.emplace_back();
      before = slot.link;
      slot.joined = joined_.size() - 1;
      Joined& joined = joined_.back();
      joined.take(slot.copies, slot.peer.plan.bases, !forward_);
    }
    for (Joined& each : joined_) each.compile(*plan_.executor);
  }

  void find_arrays(SingleCopySlot& slot) {
    slot.peer.arrays.start();
    for (std::size_t b = 0; b < slot.peer.plan.bases.size(); ++b)
      if (std::byte*& base = slot.peer.plan.bases[b]; base != nullptr)  // has cells
        base = slot.peer.arrays.find(slot.their_table.get()[b], *access_);
    slot.peer.arrays.forget_old();
  }

  void find_left(SingleCopySlot& slot, const BlockPlace& place) const {
    const auto memory = access_->map(place);
    slot.found = {{memory, memory.get() + place.offset}, slot.way->receive_bytes, slot.one_way()};
  }

  // Compares identities too: memory may be reallocated at the same address.
  void describe_arrays() {
    identity_ = access_->identity(blocks_, arrays_.bases());
    version_ = arrays_.version();
    const auto is_here = [this](const ArraySet& each) {
      return each.number != 0 && each.identity == identity_ &&
             std::equal(each.bases.begin(), each.bases.end(), arrays_.bases());
    };
    const auto seen = std::ranges::find_if(sets_, is_here);
    use(seen != sets_.end() ? *seen : described());
  }

  ArraySet& described() {
    bool mappable = true;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].empty()) continue;
      const auto place = access_->describe(blocks_[b].moved_to(arrays_.bases()[b]));
      mappable = mappable && place;
      if (place) places_[b] = *place;
    }
    auto set = std::ranges::find_if(sets_, [&](const ArraySet& each) {
      return each.number != 0 && each.mappable && mappable && each.places == places_;
    });
    if (set == sets_.end()) {
      set = sets_.begin() + ++newest_ % array_sets_kept;
      set->number = newest_;
      set->places = places_;
      set->mappable = mappable;
    }
    set->identity = identity_;
    set->bases.assign(arrays_.bases(), arrays_.bases() + blocks_.size());
    return *set;
  }

  void use(ArraySet& set) {
    set_ = &set;
    if (set.number == in_table_) return;
    std::copy(set.places.begin(), set.places.end(), table_.get());
    in_table_ = set.number;
  }

  bool make_room() {
    if (deferred_memory_ != nullptr || no_room_) return !no_room_;
    byte_count total = 0;
    for (SingleCopySlot& slot : slots_) {
      slot.left = {nullptr, slot.way->send_bytes, slot.one_way()};
      if (slot.may_be_deferred()) total += slot.left.bytes();
    }
    try {
      deferred_memory_ = access_->allocate(total);
    } catch (const Error&) {
      no_room_ = true;
      return false;
    }
    std::byte* next = deferred_memory_.get();
    for (SingleCopySlot& slot : slots_) {
      if (!slot.may_be_deferred()) continue;
      slot.left.start = {deferred_memory_, std::exchange(next, next + slot.left.bytes())};
    }
    return true;
  }

  BlockPlace place_left(const SingleCopySlot& slot) const {
    const std::byte* const first = slot.left.start.get();
    return access_->describe({first, first, first + slot.left.bytes()}).value();
  }

  std::vector<Words> write_headers(const TransportContext& context) {
    const std::string why = context.links.empty() ? "" : access_->refusal(plan_);
    if (!why.empty()) refuse("transport ", name_, ": ", why, ", or another transport");
    lines_ = make_lines<SingleCopyLines>(slots_.size());
    table_ = make_lines<BlockPlace>(blocks_.size());
    describe_arrays();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].link = context.links[i];
      slots_[i].way = &context.way(*context.links[i]);
      slots_[i].mine = &lines_.get()[i];
    }
    std::vector<Words> headers;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Words& header = headers.emplace_back();
      put_place(header, node_.mailbox_place());
      put_place(header, describe_place(slots_[i].mine));
      put_place(header, describe_place(table_.get()));
      header.push_back(set_->number);
      const bool has_room = !forward_ && slots_[i].may_be_deferred() && make_room();
      header.push_back(has_room);
      if (has_room) put_block_place(header, place_left(slots_[i]));
      put_peer_plan(header, plan_, slots_[i].link->links, *access_);
    }
    return headers;
  }

  void shake_hands(const TransportContext& context) {
    exchange_headers(
        context, [&] { return write_headers(context); },
        [&](std::size_t i, WordReader& header) {
          SingleCopySlot& slot = slots_[i];
          slot.neighbor = &node_.meet(slot.link->rank, get_place(header));
          slot.theirs = map_as<SingleCopyLines>(get_place(header));
          slot.their_table = map_as<BlockPlace>(get_place(header));
          slot.version = static_cast<std::uint64_t>(header.next());
          if (header.next() != 0) find_left(slot, get_block_place(header));
          slot.peer = get_peer_plan(header, plan_, *access_);
          slot.known[slot.version % array_sets_kept] = {slot.version, slot.peer.plan.bases};
          const Links links = slot.peer.links();
          const LinksEnd owned{plan_, slot.link->links, End::owned},
              ghosts{slot.peer.plan, links, End::ghosts};
          slot.copies = forward_ ? compile_direct(owned, ghosts) : compile_direct(ghosts, owned);
          plan_.executor->compile(slot.copies);
        });
  }

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

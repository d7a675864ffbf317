// What both directions of a single copy share: a rank's arrays as its neighbors map them, and
// messages that are left in memory where a neighbor finds them.
//
// In each exchange the holder of ghosts grants access to them to its neighbor, the owner of their
// cells. A grant names a set of arrays by number; a table of the holder's says where they are.
// Both sides remember the last few sets, for time levels take turns. A holder whose arrays cannot
// be mapped grants that messages be left.
#pragma once

#include <array>
#include <atomic>

#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/peer_arrays.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {

/// Messages of a link that may be left and unread. Two ranks that both send are never further apart
/// than two exchanges; one that only sends ends an exchange when its reader has begun all but two.
constexpr std::uint64_t deferred_slots(bool one_way) { return one_way ? 4 : 2; }

/// Whether exchange `number` can be left when the reader has begun `begun`, and so ended one less.
constexpr bool has_deferred_slot(std::uint64_t number, std::uint64_t begun, bool one_way) {
    return number <= deferred_slots(one_way) || begun + deferred_slots(one_way) > number;
}

/// Bytes of a message; larger ones would take several times their memory.
byte_count largest_deferred();

/// Which exchanges the sender has left, and where.
struct DeferredNote {
    alignas(64) std::array<std::atomic<std::uint64_t>, deferred_slots(true)> numbers{};
    alignas(64) BlockPlace place;

    bool is_deferred(std::uint64_t number, bool one_way) const {
        return numbers[number % deferred_slots(one_way)].load(std::memory_order_relaxed) == number;
    }
};

/// One link's messages.
struct DeferredBox {
    std::byte* start = nullptr;
    byte_count message = 0;
    bool one_way = false;

    byte_count bytes() const {
        return static_cast<byte_count>(deferred_slots(one_way)) * whole_lines(message);
    }
    std::byte* slot(std::uint64_t number) const {
        return start +
               static_cast<byte_count>(number % deferred_slots(one_way)) * whole_lines(message);
    }
};

/// The owner may access the holder's ghosts, in exchange `number`.
struct alignas(64) Grant {
    static constexpr std::uint64_t unmappable = 0;
    std::atomic<std::uint64_t> number{0};
    std::uint64_t version = 0;  ///< the set of its arrays, or `unmappable`
};

/// Between two ranks.
struct SingleCopyLines {
    Grant grant;
    SequenceLine done;  ///< the owner has accessed the ghosts, or has what was left
    DeferredNote left;
    SequenceLine taken;  ///< the reader has read what was left
};

constexpr std::size_t array_sets_kept = 4;  // time levels

/// Arrays of this rank that were used before. Numbers rise: on both sides a set replaces the fourth
/// before it.
struct ArraySet {
    std::uint64_t number = 0;  ///< 0: none yet
    std::uint64_t identity = 0;
    std::vector<std::byte*> bases;
    std::vector<BlockPlace> places;
    bool mappable = true;
};

/// A neighbor of the exchange.
struct SingleCopySlot {
    const LinkPlan* link = nullptr;
    const Way* way = nullptr;
    NodeNeighbor* neighbor = nullptr;
    SingleCopyLines* mine = nullptr;
    SingleCopyLines* theirs = nullptr;
    std::shared_ptr<std::byte> their_lines;
    PeerPlan peer;
    std::uint64_t version = 0;  ///< the set of the neighbor's arrays that `peer` knows
    struct KnownSet {
        std::uint64_t number = 0;
        std::vector<std::byte*> bases;
    };
    std::array<KnownSet, array_sets_kept> known;  ///< as seen from here
    std::shared_ptr<std::byte> their_table;
    Program copies;     ///< between the neighbor's ghosts and cells of this rank
    DeferredBox left;   ///< to this neighbor; its memory may not be there yet (reverse: it is)
    DeferredBox found;  ///< from this neighbor
    std::shared_ptr<std::byte> found_memory;
    std::uint64_t last_deferred = 0;  ///< the last exchange that was left
    std::uint64_t put = 0;            ///< the last whose message is where it belongs, and told
    bool copying = false;             ///< for the neighbor, which is not told yet
    bool leaving = false;             ///< as a message
    bool taking = false;              ///< what it has granted or left, and it is not told yet
    Event copied, taken;              ///< behind that
    bool reported = false;

    bool sends() const { return way->send_bytes > 0; }
    bool receives() const { return way->receive_bytes > 0; }
    bool one_way() const { return sends() != receives(); }
    bool may_be_deferred() const { return sends() && way->send_bytes <= largest_deferred(); }
    bool waits(std::uint64_t number) const { return sends() && put < number; }
};

/// The transport of a direction derives from it.
class SingleCopy : public Transport {
public:
    SingleCopy(const TransportContext& context, const std::string& name,
               std::shared_ptr<const ArrayAccess> access);
    std::string refusal() final;
    int expected() const final;
    NodeContext* node() const final { return &node_; }

protected:
    /// Another exchange, of the arrays that are bound now, behind what is on the queue.
    void start();
    /// In the destructor: neighbors that are late need this rank's memory yet, up to these numbers.
    /// Those of an exchange that was given up may do anything with it.
    void release_memory(bool given_up, std::vector<Awaited> awaited);
    /// Where the neighbor's arrays, of a set that it has granted, are others now. False where this
    /// rank cannot map them.
    bool follow(SingleCopySlot& slot, const Grant& grant);
    std::uint64_t granted_set() const { return set_->mappable ? set_->number : Grant::unmappable; }
    /// Packs the message where the neighbor finds it, in the order of the queue. False where there
    /// is no memory for it.
    bool pack_left(SingleCopySlot& slot);
    [[noreturn]] static void refuse_left(const SingleCopySlot& slot);
    void note_left(SingleCopySlot& slot, DeferredNote& note);
    /// What the neighbor has left in this exchange goes where it belongs.
    void take_left(SingleCopySlot& slot, const DeferredNote& note, Reduction reduction);

    const BoundArrays& arrays_;
    Queue& queue_;
    const bool forward_;
    const bool immediate_;  ///< copies are made when they are enqueued
    std::vector<SingleCopySlot> slots_;
    std::shared_ptr<SingleCopyLines> lines_;
    std::shared_ptr<BlockPlace> table_;  ///< where the arrays are now, for neighbors
    std::shared_ptr<std::byte> deferred_memory_;
    std::uint64_t number_ = 0;  ///< of the exchange
    Event begun_;               ///< what was on the queue before it
    bool granted_ = false;      ///< in this exchange
    int patience_ = 0;          ///< polls before a message is left: it is copied twice

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
    std::vector<ArrayBlock> blocks_;  // as they were when the exchange was made
    bool no_room_ = false;
    std::uint64_t version_ = 0, identity_ = 0;  // of the arrays that the table tells of
    std::array<ArraySet, array_sets_kept> sets_;
    std::vector<BlockPlace> places_;
    ArraySet* set_ = nullptr;
    std::uint64_t newest_ = 0, in_table_ = 0;  // sets
};

}  // namespace parhelion

// One copy: the owner of a cell writes it into its neighbor's ghosts. Transport shared maps arrays
// in node-shared memory, transport xpmem any.
//
// Per link and exchange: the holder of the ghosts grants ("you may write them", begin), the owner
// copies and tells ("they are written"), the holder goes on. Both are sequence numbers on lines
// that the other side polls. The owner writes when it finds the grant: in begin, in end, or while
// it waits in another exchange. An owner that goes away after begin, or that receives nothing,
// leaves messages that are not granted in memory of its own, where the holder finds them.
//
// A grant names a set of arrays by number; a table of the holder's says where they are. Both sides
// remember the last few sets, for time levels take turns. A holder whose arrays cannot be mapped
// grants that its message be left. A reverse exchange goes by staged_shared: the owner combines in
// a fixed order.
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "core/environment.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/compile.hpp"
#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/peer_arrays.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {
namespace {

// Messages of a link that may be left and unread. Two ranks that both send are never further apart
// than two exchanges; one that only sends ends an exchange when its reader has begun all but two.
constexpr std::uint64_t deferred_slots(bool one_way) { return one_way ? 4 : 2; }

// Whether exchange `number` can be left when the reader has begun `begun`, and so ended one less.
constexpr bool has_deferred_slot(std::uint64_t number, std::uint64_t begun, bool one_way) {
    return number <= deferred_slots(one_way) || begun + deferred_slots(one_way) > number;
}

// Larger messages would take several times their memory.
byte_count largest_deferred() {
    static const byte_count limit =
        number_told("PARHELION_BEGIN_BYTES").value_or(byte_count{16} << 20);
    return limit;
}

// In the reader's memory: which exchanges the sender has left, and where.
struct DeferredNote {
    alignas(64) std::array<std::atomic<std::uint64_t>, deferred_slots(true)> numbers{};
    alignas(64) RemotePlace place;

    bool is_deferred(std::uint64_t number, bool one_way) const {
        return numbers[number % deferred_slots(one_way)].load(std::memory_order_relaxed) == number;
    }
};

// One link's messages: a line on which the reader tells what it has read, and the slots.
struct DeferredBox {
    std::byte* start = nullptr;
    byte_count message = 0;
    bool one_way = false;

    byte_count bytes() const {
        return line + static_cast<byte_count>(deferred_slots(one_way)) * whole_lines(message);
    }
    std::byte* slot(std::uint64_t number) const {
        return start + line +
               static_cast<byte_count>(number % deferred_slots(one_way)) * whole_lines(message);
    }
    std::atomic<std::uint64_t>& taken() const {
        return reinterpret_cast<SequenceLine*>(start)->value;
    }

private:
    static constexpr byte_count line = sizeof(SequenceLine);
};

// A neighbor's ghosts may be written, in exchange `number`.
struct alignas(64) Grant {
    static constexpr std::uint64_t unmappable = 0;
    std::atomic<std::uint64_t> number{0};
    std::uint64_t version = 0;  // the set of its arrays, or `unmappable`
};

// Written by the neighbor, polled here.
struct Lines {
    Grant grant;
    SequenceLine written;  ///< it has written this rank's ghosts, or left them as a message
    DeferredNote left;
};

constexpr std::size_t sets_kept = 4;  // time levels

// Arrays of this rank that were used before. Numbers rise: on both sides a set replaces the fourth
// before it.
struct ArraySet {
    std::uint64_t number = 0;  // 0: none yet
    std::uint64_t returns = 0;
    std::vector<std::byte*> bases;
    std::vector<BlockPlace> places;
    bool mappable = true;
};

// A neighbor's set as seen from here.
struct KnownSet {
    std::uint64_t number = 0;
    std::vector<std::byte*> bases;
};

struct SharedSlot {
    const LinkPlan* link = nullptr;
    NodeNeighbor* neighbor = nullptr;
    Lines* mine = nullptr;
    Lines* theirs = nullptr;
    std::shared_ptr<std::byte> their_lines;
    PeerPlan peer;
    std::uint64_t version = 0;  // the set of the neighbor's arrays that `peer` knows
    std::array<KnownSet, sets_kept> known;
    std::shared_ptr<std::byte> their_table;
    Program copies;
    DeferredBox left;   // to this neighbor; its memory may not be there yet
    DeferredBox found;  // from this neighbor
    std::shared_ptr<std::byte> found_memory;
    std::uint64_t put = 0;            // the last exchange that was written or left, and told
    std::uint64_t last_deferred = 0;  // the last that was left
    bool copying = false;             // to the neighbor, which is not told yet
    bool leaving = false;             // as a message
    bool taking = false;              // what it has left, and it is not told yet
    Event copied, taken;              // behind that
    bool reported = false;

    bool sends() const { return link->forward.send_bytes > 0; }
    bool receives() const { return link->forward.receive_bytes > 0; }
    bool one_way() const { return sends() != receives(); }
    bool may_be_deferred() const {
        return sends() && link->forward.send_bytes <= largest_deferred();
    }
    bool waits(std::uint64_t number) const { return sends() && put < number; }
    bool given_up(std::uint64_t number) const {
        return waits(number) || (receives() && written() < number);
    }
    std::uint64_t granted() const { return mine->grant.number.load(std::memory_order_acquire); }
    std::uint64_t written() const { return mine->written.value.load(std::memory_order_acquire); }
};

class Shared final : public Transport {
public:
    Shared(const TransportContext& context, const std::string& name, const ArrayAccess& access)
        : plan_(context.plan), arrays_(context.arrays), queue_(context.queue),
          node_(context.plan.communicator().shared_state<NodeContext>()), name_(name),
          access_(access), slots_(context.links.size()) {
        for (std::size_t f = 0; f < plan_.fields.size(); ++f)
            for (std::size_t b = 0; b < plan_.fields[f].blocks.size(); ++b)
                blocks_.push_back(written_block(plan_, f, b));
        places_.resize(blocks_.size());
        shake_hands(context);
    }

    // A neighbor that is late grants, and reads what was left for it. One of an exchange that was
    // given up may do anything.
    ~Shared() override {
        if (number_ == 0) return;
        if (std::any_of(slots_.begin(), slots_.end(),
                        [this](const SharedSlot& slot) { return slot.given_up(number_); })) {
            orphan(lines_);
            orphan(table_);
            orphan(deferred_memory_);
            return;
        }
        std::vector<Awaited> awaited;
        for (const SharedSlot& slot : slots_) {
            if (slot.sends()) awaited.push_back({&slot.mine->grant.number, number_});
            if (slot.last_deferred > 0) awaited.push_back({&slot.left.taken(), slot.last_deferred});
        }
        orphan_until(std::make_shared<std::pair<decltype(lines_), decltype(deferred_memory_)>>(
                         lines_, deferred_memory_),
                     std::move(awaited));
    }

    std::string refusal() override {
        describe_arrays();
        for (const SharedSlot& slot : slots_)
            if (!set_->mappable && slot.link->forward.receive_bytes > largest_deferred())
                return "an array is not in node-shared memory, where transport " + name_ +
                       " writes, and messages of " +
                       std::to_string(slot.link->forward.receive_bytes) +
                       " bytes are not left for it: use an array that make_array, "
                       "zeros or NodeAllocator gives, or raise PARHELION_BEGIN_BYTES on every rank";
        return {};
    }

    void begin() override {
        ++number_;
        patience_ = node_.oversubscribed() ? 0 : polls_before_leaving;
        if (version_ != arrays_.version() || returns_ != node_shared_returns()) describe_arrays();
        if (told_ != set_->number) tell_arrays();
        for (SharedSlot& slot : slots_) slot.reported = !slot.receives();
        begun_ = queue_.record();
        granted_ = false;
        get_on();
    }

    void leave() override {
        get_on();
        for (SharedSlot& slot : slots_)
            if (slot.waits(number_) && slot.may_be_deferred()) leave(slot);
        if (plan_.executor->is_immediate()) return;
        queue_.wait();
        get_on();
    }

    int ready() override {
        get_on();
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            SharedSlot& slot = slots_[i];
            if (slot.reported || slot.written() < number_) continue;
            slot.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }

    void deliver(int i, Reduction) override {
        SharedSlot& slot = slots_[i];
        if (slot.mine->left.is_deferred(number_, slot.one_way())) take_deferred(slot);
        if (!slot.link->repeat.empty())
            queue_.enqueue(slot.link->repeat, arrays_.bases(), arrays_.bases());
    }

    bool finished() override {
        bool all = granted_ || (get_on(), granted_);
        for (SharedSlot& slot : slots_) {
            all = all && (!slot.taking || tell_taken(slot));
            if (!slot.sends()) continue;
            if (slot.waits(number_) && !put(slot) && runs_ahead(slot) && patience_ == 0)
                leave(slot);
            all = all && !slot.waits(number_) &&
                  (!runs_ahead(slot) || has_deferred_slot(number_ + 1, slot.granted(), true));
        }
        if (patience_ > 0) --patience_;
        return all;
    }

    int expected() const override {
        int count = 0;
        for (const SharedSlot& slot : slots_) count += slot.receives();
        return count;
    }

    std::string state(int i) const override {
        const SharedSlot& slot = slots_[i];
        const auto written = slot.mine->written.value.load(),
                   granted = slot.mine->grant.number.load();
        const std::string rank = "rank " + std::to_string(slot.link->rank),
                          number = std::to_string(number_);
        const std::string begun =
            slot.sends() ? ", it has begun number " + std::to_string(granted) : "";
        if (slot.receives() && written < number_)
            return "waiting for " + rank + " to write this rank's ghosts in exchange number " +
                   number + " (it has written number " + std::to_string(written) + begun + ")";
        if (slot.waits(number_))
            return "waiting for " + rank + " to begin exchange number " + number + begun;
        if (runs_ahead(slot) && !has_deferred_slot(number_ + 1, granted, true))
            return "waiting for " + rank + " to begin an earlier exchange than number " + number +
                   begun;
        return {};
    }

    NodeContext* node() const override { return &node_; }

private:
    static constexpr int polls_before_leaving = 1000;  // some 20 µs: what is left is copied twice

    // A rank that only sends does not wait for its reader, but to have a slot for the next message.
    static bool runs_ahead(const SharedSlot& slot) {
        return slot.one_way() && slot.may_be_deferred();
    }

    // Grants, once nothing that the caller has enqueued before uses its ghosts, and puts what is
    // granted.
    void get_on() {
        if (!granted_ && queue_.is_done(begun_)) grant();
        for (SharedSlot& slot : slots_) {
            if (slot.waits(number_)) put(slot);
            if (slot.taking) tell_taken(slot);
        }
    }

    void grant() {
        granted_ = true;
        for (SharedSlot& slot : slots_)
            if (slot.receives())
                slot.theirs->grant.number.store(number_, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (SharedSlot& slot : slots_)
            if (slot.receives()) wake_if_asleep(*slot.neighbor->mailbox);
    }

    bool put(SharedSlot& slot) {
        if (slot.copying) return tell_copied(slot);
        if (slot.granted() < number_) return false;
        if (slot.mine->grant.version != slot.version && !follow(slot)) return leave_granted(slot);
        queue_.enqueue(slot.copies, arrays_.bases(), slot.peer.plan.bases.data());
        return copies(slot);
    }

    bool copies(SharedSlot& slot) {
        slot.copied = queue_.record();
        slot.copying = true;
        return tell_copied(slot);
    }

    bool tell_copied(SharedSlot& slot) {
        if (!queue_.is_done(slot.copied)) return false;
        if (slot.leaving) tell_deferred(slot);
        slot.copying = slot.leaving = false;
        tell(slot);
        return true;
    }

    bool tell_taken(SharedSlot& slot) {
        if (!queue_.is_done(slot.taken)) return false;
        slot.taking = false;
        slot.found.taken().store(number_, std::memory_order_release);
        return true;
    }

    // The neighbor's arrays are others now. False where this rank cannot write them.
    bool follow(SharedSlot& slot) {
        const Grant& grant = slot.mine->grant;
        if (grant.version == Grant::unmappable) return false;
        KnownSet& known = slot.known[grant.version % sets_kept];
        if (known.number != grant.version) {
            find_arrays(slot);
            known.number = grant.version;
            known.bases.assign(slot.peer.plan.bases.begin(), slot.peer.plan.bases.end());
        }
        std::copy(known.bases.begin(), known.bases.end(), slot.peer.plan.bases.begin());
        slot.version = grant.version;
        return true;
    }

    void find_arrays(SharedSlot& slot) {
        const auto* table = reinterpret_cast<const BlockPlace*>(slot.their_table.get());
        slot.peer.arrays.start();
        for (std::size_t b = 0; b < slot.peer.plan.bases.size(); ++b)
            if (std::byte*& base = slot.peer.plan.bases[b]; base != nullptr)  // there are cells
                base = slot.peer.arrays.find(table[b], access_);
        slot.peer.arrays.forget_old();
    }

    bool leave_granted(SharedSlot& slot) {
        leave(slot);
        if (slot.waits(number_) && !slot.copying)
            throw Error(
                "there is no memory for a message of " +
                    std::to_string(slot.link->forward.send_bytes) + " bytes to rank " +
                    std::to_string(slot.link->rank) +
                    ", whose arrays are not in node-shared memory: free some, or use transport "
                    "staged_shared",
                ErrorKind::system);
        return !slot.copying;
    }

    // With the grants that follow.
    void tell_arrays() {
        for (SharedSlot& slot : slots_)
            if (slot.receives())
                slot.theirs->grant.version = set_->mappable ? set_->number : Grant::unmappable;
        told_ = set_->number;
    }

    // Memory that was given back may have come again, as another piece, at the address where an
    // array was.
    void describe_arrays() {
        returns_ = node_shared_returns();
        version_ = arrays_.version();
        const auto is_here = [this](const ArraySet& each) {
            return each.number != 0 && each.returns == returns_ &&
                   std::equal(each.bases.begin(), each.bases.end(), arrays_.bases());
        };
        const auto seen = std::find_if(sets_.begin(), sets_.end(), is_here);
        use(seen != sets_.end() ? *seen : described());
    }

    // The set that it is, if only as somewhere else in this rank's memory, or a new one.
    ArraySet& described() {
        bool mappable = true;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            if (blocks_[b].empty()) continue;
            const auto place = access_.describe(blocks_[b].moved_to(arrays_.bases()[b]));
            mappable = mappable && place;
            if (place) places_[b] = *place;
        }
        auto set = std::find_if(sets_.begin(), sets_.end(), [&](const ArraySet& each) {
            return each.number != 0 && each.mappable && mappable && each.places == places_;
        });
        if (set == sets_.end()) {
            set = sets_.begin() + static_cast<std::ptrdiff_t>(++newest_ % sets_kept);
            set->number = newest_;
            set->places = places_;
            set->mappable = mappable;
        }
        set->returns = returns_;
        set->bases.assign(arrays_.bases(), arrays_.bases() + blocks_.size());
        return *set;
    }

    void use(ArraySet& set) {
        set_ = &set;
        if (set.number == in_table_) return;
        std::copy(set.places.begin(), set.places.end(), table_.get());
        in_table_ = set.number;
    }

    void tell(SharedSlot& slot) {
        post(slot.theirs->written.value, number_, *slot.neighbor->mailbox);
        slot.put = number_;
    }

    // Without memory for it the neighbor gets the message when it has granted and this rank is
    // back.
    void leave(SharedSlot& slot) {
        if (slot.copying || !has_deferred_slot(number_, slot.granted(), slot.one_way()) ||
            !make_room())
            return;
        std::byte* const message[1] = {slot.left.slot(number_)};
        queue_.enqueue(slot.link->forward.pack, arrays_.bases(), message);
        slot.leaving = true;
        copies(slot);
    }

    void tell_deferred(SharedSlot& slot) {
        if (slot.last_deferred == 0) slot.theirs->left.place = describe_place(slot.left.start);
        slot.theirs->left.numbers[number_ % deferred_slots(slot.one_way())].store(
            number_, std::memory_order_relaxed);
        slot.last_deferred = number_;
    }

    void take_deferred(SharedSlot& slot) {
        if (slot.found_memory == nullptr) {
            slot.found_memory = map_place(slot.mine->left.place);
            slot.found = {slot.found_memory.get(), slot.link->forward.receive_bytes,
                          slot.one_way()};
        }
        std::byte* const message[1] = {slot.found.slot(number_)};
        queue_.enqueue(slot.link->forward.unpack, message, arrays_.bases());
        slot.taken = queue_.record();
        slot.taking = true;
        tell_taken(slot);
    }

    bool make_room() {
        if (deferred_memory_ != nullptr || no_room_) return !no_room_;
        byte_count total = 0;
        for (SharedSlot& slot : slots_) {
            slot.left = {nullptr, slot.link->forward.send_bytes, slot.one_way()};
            if (slot.may_be_deferred()) total += slot.left.bytes();
        }
        try {
            deferred_memory_ = allocate_node_shared(total);
        } catch (const Error&) {
            no_room_ = true;
            return false;
        }
        std::byte* next = deferred_memory_.get();
        for (SharedSlot& slot : slots_) {
            if (!slot.may_be_deferred()) continue;
            slot.left.start = std::exchange(next, next + slot.left.bytes());
            new (slot.left.start) SequenceLine;
        }
        return true;
    }

    std::vector<Words> write_headers(const TransportContext& context) {
        const std::string why = context.links.empty() ? "" : access_.refusal(plan_);
        if (!why.empty()) throw Error("transport " + name_ + ": " + why + ", or another transport");
        lines_ = make_lines<Lines>(slots_.size());
        table_ = make_lines<BlockPlace>(blocks_.size());
        describe_arrays();
        std::vector<Words> headers;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            slots_[i].link = context.links[i];
            slots_[i].mine = &lines_.get()[i];
            Words& header = headers.emplace_back();
            put_place(header, node_.mailbox_place());
            put_place(header, describe_place(slots_[i].mine));
            put_place(header, describe_place(table_.get()));
            header.push_back(static_cast<global_index>(set_->number));
            put_peer_plan(header, plan_, slots_[i].link->links, access_);
        }
        return headers;
    }

    void shake_hands(const TransportContext& context) {
        exchange_headers(
            context, [&] { return write_headers(context); },
            [&](std::size_t i, WordReader& header) {
                SharedSlot& slot = slots_[i];
                slot.neighbor = &node_.meet(slot.link->rank, get_place(header));
                slot.their_lines = map_place(get_place(header));
                slot.theirs = reinterpret_cast<Lines*>(slot.their_lines.get());
                slot.their_table = map_place(get_place(header));
                slot.version = static_cast<std::uint64_t>(header.next());
                slot.peer = get_peer_plan(header, plan_, access_);
                slot.known[slot.version % sets_kept] = {slot.version, slot.peer.plan.bases};
                slot.copies =
                    compile_direct(plan_, slot.link->links, slot.peer.plan, slot.peer.links());
                plan_.executor->compile(slot.copies);
            });
    }

    const Plan& plan_;
    const BoundArrays& arrays_;
    Queue& queue_;
    NodeContext& node_;
    std::string name_;
    const ArrayAccess& access_;
    std::vector<ArrayBlock> blocks_;  // as they were when the exchange was made
    std::vector<SharedSlot> slots_;
    std::shared_ptr<Lines> lines_;
    std::shared_ptr<BlockPlace> table_;  // where they are now, for neighbors
    std::shared_ptr<std::byte> deferred_memory_;
    Event begun_;           // what was on the queue before
    bool granted_ = false;  // in this exchange
    bool no_room_ = false;
    int patience_ = 0;
    std::uint64_t number_ = 0, version_ = 0, returns_ = 0;  // of the arrays that the table tells of
    std::array<ArraySet, sets_kept> sets_;
    std::vector<BlockPlace> places_;
    ArraySet* set_ = nullptr;
    std::uint64_t newest_ = 0, in_table_ = 0, told_ = 0;  // sets; told: which the grants name
};

}  // namespace

std::unique_ptr<Transport> make_shared_transport(const TransportContext& context) {
    if (!context.forward()) return make_staged_shared(context);
    return std::make_unique<Shared>(context, "shared", node_shared_access());
}

std::unique_ptr<Transport> make_xpmem(const TransportContext& context) {
    if (!context.forward()) return make_staged_shared(context);
    return std::make_unique<Shared>(context, "xpmem", xpmem_access());
}

}  // namespace parhelion

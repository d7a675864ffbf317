// One copy: the owner of a cell writes it into its neighbor's ghosts. Transport shared maps arrays in node-shared memory, transport
// xpmem any.
//
// Per link and exchange, in order: the holder of the ghosts grants ("you may write them", begin), the owner copies and
// tells ("they are written"), the holder goes on. Both are sequence numbers, each on a line that the other side polls. The
// owner need not wait: it writes when it finds the grant, in begin, in end, or while it waits in another exchange.
// An owner that goes away after begin, or ends an exchange in which it receives nothing, leaves what is not granted yet as a message in
// memory of its own (left_messages.hpp), where the holder finds it: it may go and wait for anything.
// A reverse exchange packs ghosts into a ring instead (staged_shared): the owner combines them in a fixed order.
#include <algorithm>
#include <utility>

#include "plan/compile.hpp"
#include "plan/shared_run.hpp"
#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/left_messages.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/peer_plan.hpp"

namespace parhelion {
namespace {

// Written by the neighbor, polled here.
struct Lines {
    SequenceLine granted;  ///< its ghosts may be written
    SequenceLine written;  ///< it has written this rank's ghosts, or left them as a message
    LeftNote left;
};

struct SharedSlot {
    const LinkPlan* link = nullptr;
    NodeNeighbor* neighbor = nullptr;
    Lines* mine = nullptr;
    Lines* theirs = nullptr;
    std::shared_ptr<std::byte> their_lines;
    PeerPlan peer;
    Program copies;
    LeftBox left;                      // to this neighbor; its memory may not be there yet
    LeftBox found;                     // from this neighbor
    std::shared_ptr<std::byte> found_memory;
    std::uint64_t put = 0, left_last = 0;  // last exchange that was written or left, and told; last that was left
    bool reported = false;

    bool sends() const { return link->forward.send_bytes > 0; }
    bool receives() const { return link->forward.receive_bytes > 0; }
    bool one_way() const { return sends() != receives(); }
    bool may_be_left() const { return sends() && link->forward.send_bytes <= largest_left(); }
    bool waits(std::uint64_t number) const { return sends() && put < number; }
    bool given_up(std::uint64_t number) const { return waits(number) || (receives() && written() < number); }
    std::uint64_t granted() const { return mine->granted.value.load(std::memory_order_acquire); }
    std::uint64_t written() const { return mine->written.value.load(std::memory_order_acquire); }
};

class Shared final : public Transport {
public:
    Shared(const TransportContext& context, const std::string& name, const ArrayAccess& access)
        : plan_(context.plan), node_(context.plan.communicator().shared_state<NodeContext>()), slots_(context.links.size()),
          reverse_(has_reverse(context.lanes) ? make_staged_shared_reverse(context) : nullptr) {
        if (!has_forward(context.lanes)) return;
        validate_together(plan_.communicator(), [&] {
            const std::string why = context.links.empty() ? "" : access.refusal(plan_);
            if (!why.empty()) throw Error("transport " + name + ": " + why + ", or another transport");
            lines_ = make_lines<Lines>(slots_.size());
        });
        shake_hands(context, access);
    }

    // A neighbor that is late grants, and reads what was left for it. One of an exchange that was given up may do anything.
    ~Shared() override {
        if (number_ == 0) return;
        if (std::any_of(slots_.begin(), slots_.end(), [this](const SharedSlot& slot) { return slot.given_up(number_); })) {
            leave_behind(lines_);
            leave_behind(left_memory_);
            return;
        }
        std::vector<Awaited> awaited;
        for (const SharedSlot& slot : slots_) {
            if (slot.sends()) awaited.push_back({&slot.mine->granted.value, number_});
            if (slot.left_last > 0) awaited.push_back({&slot.left.taken(), slot.left_last});
        }
        leave_behind_until(std::make_shared<std::pair<decltype(lines_), decltype(left_memory_)>>(lines_, left_memory_), std::move(awaited));
    }

    void begin(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->begin(direction);
        ++number_;
        patience_ = node_.oversubscribed() ? 0 : polls_before_leaving;
        for (SharedSlot& slot : slots_) {
            slot.reported = !slot.receives();
            if (slot.receives()) post(slot.theirs->granted.value, number_, *slot.neighbor->postbox);
        }
        put_what_is_granted();
    }

    void leave(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->leave(direction);
        for (SharedSlot& slot : slots_)
            if (slot.waits(number_) && slot.may_be_left()) leave(slot);
    }

    int ready(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->ready(direction);
        put_what_is_granted();
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            SharedSlot& slot = slots_[i];
            if (slot.reported || slot.written() < number_) continue;
            slot.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }

    void deliver(int i, Direction direction, Reduction reduction) override {
        if (direction == Direction::reverse) return reverse_->deliver(i, direction, reduction);
        SharedSlot& slot = slots_[static_cast<std::size_t>(i)];
        if (slot.mine->left.is_left(number_, slot.one_way())) take_left(slot);
        run(slot.link->repeat, plan_.bases.data(), plan_.bases.data());
    }

    bool finished(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->finished(direction);
        bool all = true;
        for (SharedSlot& slot : slots_) {
            if (!slot.sends()) continue;
            if (slot.waits(number_) && !put(slot) && runs_ahead(slot) && patience_ == 0) leave(slot);
            all = all && !slot.waits(number_) && (!runs_ahead(slot) || has_left_slot(number_ + 1, slot.granted(), true));
        }
        if (patience_ > 0) --patience_;
        return all;
    }

    int expected(Direction direction) const override {
        if (direction == Direction::reverse) return reverse_->expected(direction);
        int count = 0;
        for (const SharedSlot& slot : slots_) count += slot.receives();
        return count;
    }

    std::string state(int i, Direction direction) const override {
        if (direction == Direction::reverse) return reverse_->state(i, direction);
        const SharedSlot& slot = slots_[static_cast<std::size_t>(i)];
        const auto written = slot.mine->written.value.load(), granted = slot.mine->granted.value.load();
        const std::string rank = "rank " + std::to_string(slot.link->rank), number = std::to_string(number_);
        const std::string begun = slot.sends() ? ", it has begun number " + std::to_string(granted) : "";
        if (slot.receives() && written < number_)
            return "waiting for " + rank + " to write this rank's ghosts in exchange number " + number +
                   " (it has written number " + std::to_string(written) + begun + ")";
        if (slot.waits(number_)) return "waiting for " + rank + " to begin exchange number " + number + begun;
        if (runs_ahead(slot) && !has_left_slot(number_ + 1, granted, true))
            return "waiting for " + rank + " to begin an earlier exchange than number " + number + begun;
        return {};
    }

    NodeContext* node() const override { return &node_; }

private:
    static constexpr int polls_before_leaving = 1000;  // some 20 µs: what is left is copied twice

    // A rank that only sends does not wait for its reader, but to have a slot for the next message.
    static bool runs_ahead(const SharedSlot& slot) { return slot.one_way() && slot.may_be_left(); }

    void put_what_is_granted() {
        for (SharedSlot& slot : slots_)
            if (slot.waits(number_)) put(slot);
    }

    bool put(SharedSlot& slot) {
        if (slot.granted() < number_) return false;
        run_shared(plan_, slot.copies, plan_.bases.data(), slot.peer.plan.bases.data());
        tell(slot);
        return true;
    }

    void tell(SharedSlot& slot) {
        post(slot.theirs->written.value, number_, *slot.neighbor->postbox);
        slot.put = number_;
    }

    // Without memory for it the neighbor gets the message when it has granted and this rank is back.
    void leave(SharedSlot& slot) {
        if (!has_left_slot(number_, slot.granted(), slot.one_way()) || !make_room()) return;
        std::byte* const message[1] = {slot.left.slot(number_)};
        run_shared(plan_, slot.link->forward.pack, plan_.bases.data(), message);
        if (slot.left_last == 0) slot.theirs->left.place = describe_place(slot.left.start);
        slot.theirs->left.numbers[number_ % left_slots(slot.one_way())].store(number_, std::memory_order_relaxed);
        slot.left_last = number_;
        tell(slot);
    }

    void take_left(SharedSlot& slot) {
        if (slot.found_memory == nullptr) {
            slot.found_memory = map_place(slot.mine->left.place);
            slot.found = {slot.found_memory.get(), slot.link->forward.receive_bytes, slot.one_way()};
        }
        std::byte* const message[1] = {slot.found.slot(number_)};
        run_shared(plan_, slot.link->forward.unpack, message, plan_.bases.data());
        slot.found.taken().store(number_, std::memory_order_release);
    }

    bool make_room() {
        if (left_memory_ != nullptr || no_room_) return !no_room_;
        byte_count total = 0;
        for (SharedSlot& slot : slots_) {
            slot.left = {nullptr, slot.link->forward.send_bytes, slot.one_way()};
            if (slot.may_be_left()) total += slot.left.bytes();
        }
        try {
            left_memory_ = allocate_node_shared(total);
        } catch (const Error&) {
            no_room_ = true;
            return false;
        }
        std::byte* next = left_memory_.get();
        for (SharedSlot& slot : slots_) {
            if (!slot.may_be_left()) continue;
            slot.left.start = std::exchange(next, next + slot.left.bytes());
            new (slot.left.start) SequenceLine;
        }
        return true;
    }

    void shake_hands(const TransportContext& context, const ArrayAccess& access) {
        std::vector<Words> letters;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            slots_[i].link = context.links[i];
            slots_[i].mine = &lines_.get()[i];
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            put_place(letter, describe_place(slots_[i].mine));
            put_peer_plan(letter, plan_, *slots_[i].link->link, access);
        }
        exchange_letters(context, letters, [&](std::size_t i, WordReader& letter) {
            SharedSlot& slot = slots_[i];
            slot.neighbor = &node_.meet(slot.link->rank, get_place(letter));
            slot.their_lines = map_place(get_place(letter));
            slot.theirs = reinterpret_cast<Lines*>(slot.their_lines.get());
            slot.peer = get_peer_plan(letter, plan_, access);
            const Link& link = *slot.link->link;
            slot.copies = compile_straight(plan_, link.send, slot.peer.plan, slot.peer.receive, link.send_unique, false);
        });
    }

    const Plan& plan_;
    NodeContext& node_;
    std::vector<SharedSlot> slots_;
    std::shared_ptr<Lines> lines_;
    std::unique_ptr<Transport> reverse_;
    std::shared_ptr<std::byte> left_memory_;
    bool no_room_ = false;
    int patience_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_shared_transport(const TransportContext& context) {
    return std::make_unique<Shared>(context, "shared", node_shared_access());
}

std::unique_ptr<Transport> make_xpmem(const TransportContext& context) {
    return std::make_unique<Shared>(context, "xpmem", xpmem_access());
}

}  // namespace parhelion

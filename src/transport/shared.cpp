// One copy: the owner of a cell writes it into its neighbor's ghosts.
//
// Per link and exchange, in order: the holder of the ghosts grants ("you may write them", begin), the owner copies and
// tells ("they are written"), the holder goes on. Both are sequence numbers, each on a line that the other side polls. The
// owner need not wait: it writes when it finds the grant, in begin, in end, or while it waits in another exchange.
// A reverse exchange packs ghosts into a ring instead (staged_shared): the owner combines them in a fixed order.
#include <atomic>

#include "plan/compile.hpp"
#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/peer_plan.hpp"

namespace parhelion {
namespace {

// Written by the neighbor, polled here.
struct Lines {
    SequenceLine granted;  ///< its ghosts may be written
    SequenceLine written;  ///< it has written this rank's ghosts
};

struct SharedSlot {
    const LinkPlan* link = nullptr;
    NodeNeighbor* neighbor = nullptr;
    Lines* mine = nullptr;
    Lines* theirs = nullptr;
    std::shared_ptr<std::byte> their_lines;
    PeerPlan peer;
    Program put;
    std::atomic<std::uint64_t> claimed{0};  // whoever raises it to the current number writes
    std::atomic<std::uint64_t> done{0};     // written and told
    bool reported = false;

    bool sends() const { return link->forward.send_bytes > 0; }
    bool receives() const { return link->forward.receive_bytes > 0; }
};

class Shared final : public Transport, BackgroundWork {
public:
    explicit Shared(const TransportContext& context)
        : plan_(context.plan), node_(context.plan.communicator().shared_state<NodeContext>()), slots_(context.links.size()),
          reverse_(make_staged_shared_reverse(context)) {
        validate_together(plan_.communicator(), [&] {
            const std::string why = context.links.empty() ? "" : private_field(plan_);
            if (!why.empty()) throw Error("transport shared: " + why + ": use such arrays, or another transport");
            lines_ = make_lines<Lines>(slots_.size());
        });
        shake_hands(context);
        node_.add(this);
    }
    ~Shared() override { node_.remove(this); }

    void begin(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->begin(direction);
        const auto number = number_.load(std::memory_order_relaxed) + 1;
        for (SharedSlot& slot : slots_) {
            slot.reported = !slot.receives();
            if (slot.receives()) post(slot.theirs->granted.value, number, *slot.neighbor->postbox);
        }
        number_.store(number, std::memory_order_release);
        advance();
    }

    // Writes what has been granted and not been written. Any thread may come here, several at a time.
    bool advance() override {
        const auto number = number_.load(std::memory_order_acquire);
        bool any = false;
        for (SharedSlot& slot : slots_)
            if (slot.sends()) any = put(slot, number) || any;
        return any;
    }

    int ready(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->ready(direction);
        advance();
        const auto number = number_.load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            SharedSlot& slot = slots_[i];
            if (slot.reported || slot.mine->written.value.load(std::memory_order_acquire) < number) continue;
            slot.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }

    void deliver(int slot, Direction direction, Reduction reduction) override {
        if (direction == Direction::reverse) return reverse_->deliver(slot, direction, reduction);
        run(slots_[static_cast<std::size_t>(slot)].link->repeat, plan_.bases.data(), plan_.bases.data());
    }

    bool finished(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->finished(direction);
        advance();
        const auto number = number_.load(std::memory_order_relaxed);
        for (SharedSlot& slot : slots_)
            if (slot.sends() && slot.done.load(std::memory_order_acquire) < number) return false;
        return true;
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
        const auto number = number_.load();
        return "waiting for rank " + std::to_string(slot.link->rank) + " to write its ghosts in exchange " +
               std::to_string(number) + " (it has written up to " + std::to_string(slot.mine->written.value.load()) +
               ", has begun up to " + std::to_string(slot.mine->granted.value.load()) + ")";
    }

    NodeContext* node() const override { return &node_; }

private:
    bool put(SharedSlot& slot, std::uint64_t number) {
        if (slot.claimed.load(std::memory_order_relaxed) >= number) return false;
        if (slot.mine->granted.value.load(std::memory_order_acquire) < number) return false;
        auto previous = number - 1;
        if (!slot.claimed.compare_exchange_strong(previous, number, std::memory_order_acq_rel)) return false;
        run(slot.put, plan_.bases.data(), slot.peer.plan.bases.data());
        post(slot.theirs->written.value, number, *slot.neighbor->postbox);
        slot.done.store(number, std::memory_order_release);
        return true;
    }

    void shake_hands(const TransportContext& context) {
        std::vector<Words> letters;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            slots_[i].link = context.links[i];
            slots_[i].mine = &lines_.get()[i];
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            put_place(letter, describe_place(slots_[i].mine));
            put_peer_plan(letter, plan_, *slots_[i].link->link);
        }
        exchange_letters(context, letters, [&](std::size_t i, WordReader& letter) {
            SharedSlot& slot = slots_[i];
            slot.neighbor = &node_.meet(slot.link->rank, get_place(letter));
            slot.their_lines = map_place(get_place(letter));
            slot.theirs = reinterpret_cast<Lines*>(slot.their_lines.get());
            slot.peer = get_peer_plan(letter, plan_);
            const Link& link = *slot.link->link;
            slot.put = compile_straight(plan_, link.send, slot.peer.plan, slot.peer.receive, link.send_unique, false);
        });
    }

    const Plan& plan_;
    NodeContext& node_;
    std::vector<SharedSlot> slots_;
    std::shared_ptr<Lines> lines_;
    std::unique_ptr<Transport> reverse_;
    std::atomic<std::uint64_t> number_{0};
};

}  // namespace

std::unique_ptr<Transport> make_shared_transport(const TransportContext& context) {
    return std::make_unique<Shared>(context);
}

}  // namespace parhelion

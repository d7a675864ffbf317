// One copy: the owner of a cell writes it into its neighbor's ghosts. Transport shared maps arrays in node-shared memory, transport
// xpmem any.
//
// Per link and exchange, in order: the holder of the ghosts grants ("you may write them", begin), the owner copies and
// tells ("they are written"), the holder goes on. Both are sequence numbers, each on a line that the other side polls. The
// owner need not wait: it writes when it finds the grant, in begin, in end, or while it waits in another exchange.
// A reverse exchange packs ghosts into a ring instead (staged_shared): the owner combines them in a fixed order.
#include "plan/compile.hpp"
#include "plan/shared_run.hpp"
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
    Program copies;
    std::uint64_t put = 0;  // last exchange that was written and told
    bool reported = false;

    bool sends() const { return link->forward.send_bytes > 0; }
    bool receives() const { return link->forward.receive_bytes > 0; }
};

class Shared final : public Transport {
public:
    Shared(const TransportContext& context, const std::string& name, const ArrayAccess& access)
        : plan_(context.plan), node_(context.plan.communicator().shared_state<NodeContext>()), slots_(context.links.size()),
          reverse_(has_reverse(context.lanes) ? make_staged_shared_reverse(context) : nullptr) {
        if (!has_forward(context.lanes)) return;
        validate_together(plan_.communicator(), [&] {
            const std::string why = context.links.empty() ? "" : access.refusal(plan_);
            if (!why.empty()) throw Error("transport " + name + ": " + why + ": use such arrays, or another transport");
            lines_ = make_lines<Lines>(slots_.size());
        });
        shake_hands(context, access);
    }

    void begin(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->begin(direction);
        ++number_;
        for (SharedSlot& slot : slots_) {
            slot.reported = !slot.receives();
            if (slot.receives()) post(slot.theirs->granted.value, number_, *slot.neighbor->postbox);
        }
        put_what_is_granted();
    }

    int ready(Direction direction) override {
        if (direction == Direction::reverse) return reverse_->ready(direction);
        put_what_is_granted();
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            SharedSlot& slot = slots_[i];
            if (slot.reported || slot.mine->written.value.load(std::memory_order_acquire) < number_) continue;
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
        return put_what_is_granted();
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
        if (slot.sends() && slot.put < number_)
            return "waiting for " + rank + " to begin exchange number " + number + begun;
        return {};
    }

    NodeContext* node() const override { return &node_; }

private:
    // Whether nothing is left to be written.
    bool put_what_is_granted() {
        bool all = true;
        for (SharedSlot& slot : slots_)
            if (slot.sends() && slot.put < number_) all = put(slot) && all;
        return all;
    }

    bool put(SharedSlot& slot) {
        if (slot.mine->granted.value.load(std::memory_order_acquire) < number_) return false;
        run_shared(plan_, slot.copies, plan_.bases.data(), slot.peer.plan.bases.data());
        post(slot.theirs->written.value, number_, *slot.neighbor->postbox);
        slot.put = number_;
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

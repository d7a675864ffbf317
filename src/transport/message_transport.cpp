#include <optional>
#include <utility>

#include "parhelion/core/aligned.hpp"
#include "plan/shared_run.hpp"
#include "transport/left_behind.hpp"
#include "transport/messenger.hpp"

namespace parhelion {
namespace {

// A message that is one piece of an array needs no copy: it is sent from, or received into, the array itself.
std::byte* in_place(const Plan& plan, const Contiguous& piece, byte_count bytes) {
    if (piece.base < 0 || piece.bytes != bytes) return nullptr;
    return plan.bases[static_cast<std::size_t>(piece.base)] + piece.offset;
}

struct Slot {
    const LinkPlan* link;
    const Way* way;
    std::byte* send = nullptr;
    std::byte* receive = nullptr;
    bool pack = true, unpack = true;
    bool sent = false;
    bool arrived = false;
};

// Slots, buffers and messenger of one direction.
class Lane {
public:
    Lane(const TransportContext& context, Direction direction, const MakeMessenger& make, Buffers buffers)
        : plan_(context.plan), messengers_buffers_(buffers == Buffers::messengers) {
        for (const LinkPlan* link : context.links) slots_.push_back(make_slot(*link, direction));
        if (!messengers_buffers_) place_buffers();
        std::vector<Channel> channels;
        for (const Slot& slot : slots_) {
            channels.push_back({slot.link->rank, slot.send, slot.way->send_bytes, slot.receive, slot.way->receive_bytes});
            expected_ += slot.way->receive_bytes > 0;
        }
        messenger_ = make(context, std::move(channels), direction);
    }
    Lane(Lane&&) = delete;
    ~Lane() {
        if (messenger_->settle()) return;
        buffer_.release();  // MPI may still read it
        leave_arrays_behind(plan_);
    }

    void begin() {
        ++number_;
        messenger_->start_receives();
        for (Slot& slot : slots_) {
            slot.sent = slot.way->send_bytes == 0;
            slot.arrived = slot.way->receive_bytes == 0;
        }
        all_sent_ = false;
        send_what_may();
    }

    int ready() {
        if (!all_sent_) send_what_may();
        const int i = messenger_->test_receive();
        if (i >= 0) slots_[static_cast<std::size_t>(i)].arrived = true;
        return i;
    }

    void deliver(int i, Direction direction, Reduction reduction) {
        Slot& slot = slots_[static_cast<std::size_t>(i)];
        std::byte* const message[1] = {messengers_buffers_ ? messenger_->receive_buffer(i) : slot.receive};
        if (direction == Direction::reverse) {
            reduce(slot.way->unpack, message, plan_.bases.data(), reduction);
        } else {
            if (slot.unpack) run_shared(plan_, slot.way->unpack, message, plan_.bases.data());
            run(slot.link->repeat, plan_.bases.data(), plan_.bases.data());
        }
        messenger_->consumed(i);
    }

    bool finished() {
        if (!all_sent_) send_what_may();
        return all_sent_ && messenger_->test_sends();
    }

    int expected() const { return expected_; }

    std::string state(int i) const {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        const std::string rank = "rank " + std::to_string(slot.link->rank), number = std::to_string(number_);
        const std::string detail = messenger_->state(i);
        if (!slot.arrived) return waiting_text(slot.way->receive_bytes, slot.link->rank, number_) + detail;
        if (!slot.sent) return "waiting for " + rank + " to read an earlier message, before number " + number + detail;
        return {};
    }

private:
    void send_what_may() {
        all_sent_ = true;
        for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
            Slot& slot = slots_[static_cast<std::size_t>(i)];
            if (slot.sent) continue;
            if (!messenger_->may_send(i)) {
                all_sent_ = false;
                continue;
            }
            std::byte* const message[1] = {messengers_buffers_ ? messenger_->send_buffer(i) : slot.send};
            if (slot.pack) run_shared(plan_, slot.way->pack, plan_.bases.data(), message);
            messenger_->start_send(i);
            slot.sent = true;
        }
        if (all_sent_) messenger_->flush();
    }

    Slot make_slot(const LinkPlan& link, Direction direction) const {
        Slot slot{&link, &link.way(direction)};
        if (messengers_buffers_) return slot;
        slot.send = in_place(plan_, contiguous_source(slot.way->pack), slot.way->send_bytes);
        // What is received in a reverse exchange is combined with the owner's value: never in place.
        if (direction == Direction::forward)
            slot.receive = in_place(plan_, contiguous_destination(slot.way->unpack), slot.way->receive_bytes);
        slot.pack = slot.send == nullptr;
        slot.unpack = slot.receive == nullptr;
        return slot;
    }

    void place_buffers() {
        constexpr byte_count line = 64;
        const auto padded = [](byte_count bytes) { return (bytes + line - 1) / line * line; };
        byte_count total = 0;
        for (const Slot& slot : slots_)
            total += (slot.pack ? padded(slot.way->send_bytes) : 0) + (slot.unpack ? padded(slot.way->receive_bytes) : 0);
        buffer_ = allocate_aligned(total);
        std::byte* next = buffer_.get();
        for (Slot& slot : slots_) {
            if (slot.pack) slot.send = std::exchange(next, next + padded(slot.way->send_bytes));
            if (slot.unpack) slot.receive = std::exchange(next, next + padded(slot.way->receive_bytes));
        }
    }

    const Plan& plan_;
    bool messengers_buffers_;
    std::vector<Slot> slots_;
    AlignedBytes buffer_;
    std::unique_ptr<Messenger> messenger_;
    int expected_ = 0;
    std::uint64_t number_ = 0;
    bool all_sent_ = true;
};

class MessageTransport final : public Transport {
public:
    MessageTransport(const TransportContext& context, const MakeMessenger& make, MessageTransportOptions options)
        : node_(options.node) {
        if (has_forward(context.lanes)) forward_.emplace(context, Direction::forward, make, options.buffers);
        if (has_reverse(context.lanes)) reverse_.emplace(context, Direction::reverse, make, options.buffers);
    }

    void begin(Direction direction) override { lane(direction).begin(); }
    int ready(Direction direction) override { return lane(direction).ready(); }
    void deliver(int slot, Direction direction, Reduction reduction) override {
        lane(direction).deliver(slot, direction, reduction);
    }
    bool finished(Direction direction) override { return lane(direction).finished(); }
    int expected(Direction direction) const override {
        return (direction == Direction::forward ? forward_ : reverse_)->expected();
    }
    std::string state(int slot, Direction direction) const override {
        return (direction == Direction::forward ? forward_ : reverse_)->state(slot);
    }
    NodeContext* node() const override { return node_; }

private:
    Lane& lane(Direction direction) { return direction == Direction::forward ? *forward_ : *reverse_; }
    std::optional<Lane> forward_, reverse_;
    NodeContext* node_;
};

}  // namespace

std::unique_ptr<Transport> make_message_transport(const TransportContext& context, const MakeMessenger& make,
                                                  MessageTransportOptions options) {
    return std::make_unique<MessageTransport>(context, make, options);
}

}  // namespace parhelion

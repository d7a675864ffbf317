#include <algorithm>
#include <optional>
#include <utility>

#include "parhelion/core/aligned.hpp"
#include "plan/shared_run.hpp"
#include "transport/left_behind.hpp"
#include "transport/messenger.hpp"
#include "transport/pieces.hpp"

namespace parhelion {
namespace {

// A message that is one piece of an array needs no copy: it is sent from, or received into, the array itself.
std::byte* in_place(const Plan& plan, const Contiguous& piece, byte_count bytes) {
    if (piece.base < 0 || piece.bytes != bytes) return nullptr;
    return plan.bases[static_cast<std::size_t>(piece.base)] + piece.offset;
}

// A message, or a piece of one.
struct Slot {
    int link;
    const Program* pack;
    const Program* unpack;
    byte_count send_bytes, receive_bytes;
    std::byte* send = nullptr;
    std::byte* receive = nullptr;
    bool arrived = false;
};

// What is known of a link in one direction.
struct LinkState {
    const LinkPlan* link;
    std::vector<MessagePiece> sent = {}, received = {};  // none: in one
    int slot = 0, slots = 1, missing = 0;                // the first of its slots, how many, and those whose data is missing
    bool receives = false;
    bool in_pieces() const { return slots > 1; }
};

// Slots, buffers and messenger of one direction.
class Lane {
public:
    Lane(const TransportContext& context, Direction direction, const MakeMessenger& make, const MessageTransportOptions& options)
        : plan_(context.plan), buffers_(options.buffers), messengers_buffers_(buffers_ == Buffers::messengers) {
        for (const LinkPlan* link : context.links) links_.push_back({link});
        for (LinkState& link : links_) add_slots(link, direction, options.pieces && direction == Direction::forward);
        if (!messengers_buffers_) place_buffers();
        std::vector<Channel> channels;
        for (const Slot& slot : slots_)
            channels.push_back({rank(slot), slot.send, slot.send_bytes, slot.receive, slot.receive_bytes, slot.pack == nullptr, slot.link});
        messenger_ = make(context, std::move(channels), direction);
    }
    Lane(Lane&&) = delete;
    ~Lane() {
        if (messenger_->settle()) return;
        leave_behind(std::shared_ptr<std::byte[]>(std::move(buffer_)));  // MPI may still read it
        leave_arrays_behind(plan_);
    }

    void begin() {
        ++number_;
        messenger_->start_receives();
        for (LinkState& link : links_) link.missing = 0;
        for (Slot& slot : slots_) {
            slot.arrived = slot.receive_bytes == 0;
            links_[static_cast<std::size_t>(slot.link)].missing += !slot.arrived;
        }
        send_all();
    }

    int ready() {
        for (int i; (i = messenger_->test_receive()) >= 0;) {
            Slot& slot = slots_[static_cast<std::size_t>(i)];
            LinkState& link = links_[static_cast<std::size_t>(slot.link)];
            slot.arrived = true;
            if (link.in_pieces()) unpack(i);
            if (--link.missing == 0) return slot.link;
        }
        return -1;
    }

    void deliver(int number, Direction direction, Reduction reduction) {
        const LinkState& link = links_[static_cast<std::size_t>(number)];
        if (direction == Direction::reverse) {
            std::byte* const message[1] = {received(link.slot)};
            reduce(*slots_[static_cast<std::size_t>(link.slot)].unpack, message, plan_.bases.data(), reduction);
            return messenger_->consumed(link.slot);
        }
        if (!link.in_pieces()) unpack(link.slot);
        run(link.link->repeat, plan_.bases.data(), plan_.bases.data());
    }

    bool finished() { return messenger_->test_sends(); }

    int expected() const {
        return static_cast<int>(std::count_if(links_.begin(), links_.end(), [](const LinkState& link) { return link.receives; }));
    }

    std::string state(int number) const {
        const LinkState& link = links_[static_cast<std::size_t>(number)];
        for (int i = link.slot; i < link.slot + link.slots; ++i)
            if (const std::string text = state_of_slot(i); !text.empty()) return text;
        return {};
    }

private:
    std::string state_of_slot(int i) const {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        const std::string detail = messenger_->state(i);
        if (!slot.arrived) return waiting_text(slot.receive_bytes, rank(slot), number_) + detail;
        if (messenger_->unread(i))
            return "waiting for rank " + std::to_string(rank(slot)) + " to read an earlier message than number " +
                   std::to_string(number_) + detail;
        return {};
    }

    int rank(const Slot& slot) const { return links_[static_cast<std::size_t>(slot.link)].link->rank; }
    std::byte* received(int i) const {
        return messengers_buffers_ ? messenger_->receive_buffer(i) : slots_[static_cast<std::size_t>(i)].receive;
    }
    void unpack(int i) {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        std::byte* const message[1] = {received(i)};
        if (slot.unpack != nullptr) run_shared(plan_, *slot.unpack, message, plan_.bases.data());
        messenger_->consumed(i);
    }

    void send_all() {
        for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
            const Slot& slot = slots_[static_cast<std::size_t>(i)];
            if (slot.send_bytes == 0) continue;
            std::byte* const message[1] = {messenger_->send_buffer(i, slot.send)};
            if (slot.pack != nullptr) run_shared(plan_, *slot.pack, plan_.bases.data(), message);
            messenger_->start_send(i);
        }
        messenger_->flush();
    }

    void add_slots(LinkState& state, Direction direction, bool in_pieces) {
        const int number = static_cast<int>(&state - links_.data());
        const Way& way = state.link->way(direction);
        state.slot = static_cast<int>(slots_.size());
        state.receives = way.receive_bytes > 0;
        if (in_pieces) {
            state.sent = pieces_sent(plan_, *state.link);
            state.received = pieces_received(plan_, *state.link);
        }
        state.slots = static_cast<int>(std::max(state.sent.size(), state.received.size()));
        if (state.slots > 1) return add_pieces(state, number);
        state.slots = 1;
        slots_.push_back({number, &way.pack, &way.unpack, way.send_bytes, way.receive_bytes});
        if (!messengers_buffers_) use_arrays(slots_.back(), direction);
    }

    // What goes one way only may have fewer pieces, the rest of whose slots are empty.
    void add_pieces(const LinkState& state, int number) {
        static const MessagePiece none;
        for (std::size_t p = 0; p < static_cast<std::size_t>(state.slots); ++p) {
            const MessagePiece& out = p < state.sent.size() ? state.sent[p] : none;
            const MessagePiece& in = p < state.received.size() ? state.received[p] : none;
            slots_.push_back({number, &out.program, &in.program, out.bytes, in.bytes});
            if (!messengers_buffers_) use_arrays(slots_.back(), Direction::forward);
        }
    }

    // What is received in a reverse exchange is combined with the owner's value: never in place.
    void use_arrays(Slot& slot, Direction direction) const {
        slot.send = in_place(plan_, contiguous_source(*slot.pack), slot.send_bytes);
        if (slot.send != nullptr) slot.pack = nullptr;
        if (direction == Direction::reverse) return;
        slot.receive = in_place(plan_, contiguous_destination(*slot.unpack), slot.receive_bytes);
        if (slot.receive != nullptr) slot.unpack = nullptr;
    }

    void place_buffers() {
        byte_count total = 0;
        const auto needs_send = [this](const Slot& slot) { return slot.send == nullptr && buffers_ != Buffers::receives_private; };
        for (const Slot& slot : slots_)
            total += (needs_send(slot) ? whole_lines(slot.send_bytes) : 0) + (slot.receive == nullptr ? whole_lines(slot.receive_bytes) : 0);
        buffer_ = allocate_aligned(total);
        std::byte* next = buffer_.get();
        for (Slot& slot : slots_) {
            if (needs_send(slot)) slot.send = std::exchange(next, next + whole_lines(slot.send_bytes));
            if (slot.receive == nullptr) slot.receive = std::exchange(next, next + whole_lines(slot.receive_bytes));
        }
    }

    const Plan& plan_;
    Buffers buffers_;
    bool messengers_buffers_;
    std::vector<LinkState> links_;
    std::vector<Slot> slots_;
    AlignedBytes buffer_;
    std::unique_ptr<Messenger> messenger_;
    std::uint64_t number_ = 0;
};

class MessageTransport final : public Transport {
public:
    MessageTransport(const TransportContext& context, const MakeMessenger& make, MessageTransportOptions options)
        : node_(options.node) {
        if (has_forward(context.lanes)) forward_.emplace(context, Direction::forward, make, options);
        if (has_reverse(context.lanes)) reverse_.emplace(context, Direction::reverse, make, options);
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

// The reverse direction through rings: whole messages, for they are combined in a fixed order once all are there. Rings and
// numbers are as in staged_shared.cpp.
#include <algorithm>

#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/slots.hpp"

namespace parhelion {
namespace {

using namespace slots;

struct Ring {
    Channel channel;
    NodeNeighbor* neighbor = nullptr;
    std::byte* incoming = nullptr;  // two slots here
    std::byte* outgoing = nullptr;  // two slots there
    SequenceLine* consumed_here = nullptr;   // this rank acknowledges
    SequenceLine* consumed_there = nullptr;  // the neighbor acknowledges
    std::shared_ptr<std::byte> slots_there, lines_there;
    bool reported = true;

    bool one_way() const { return (channel.send_bytes > 0) != (channel.receive_bytes > 0); }
    std::byte* in(std::uint64_t number) const { return incoming + number % 2 * static_cast<std::uint64_t>(slot_bytes(channel.receive_bytes)); }
    std::byte* out(std::uint64_t number) const { return outgoing + number % 2 * static_cast<std::uint64_t>(slot_bytes(channel.send_bytes)); }
};

class StagedShared final : public Messenger {
public:
    StagedShared(const TransportContext& context, const std::vector<Channel>& channels)
        : node_(context.plan.communicator().shared_state<NodeContext>()) {
        for (const Channel& channel : channels) rings_.emplace_back().channel = channel;
        validate_together(context.plan.communicator(), [&] { allocate(); });
        shake_hands(context);
    }

    void start_receives() override {
        ++number_;
        for (Ring& ring : rings_) ring.reported = ring.channel.receive_bytes == 0;
    }
    bool may_send(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        return !ring.one_way() || ring.consumed_there->value.load(std::memory_order_acquire) + 2 >= number_;
    }
    std::byte* send_buffer(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        return ring.out(number_) + payload_offset(ring.channel.send_bytes);
    }
    std::byte* receive_buffer(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        return ring.in(number_) + payload_offset(ring.channel.receive_bytes);
    }
    void start_send(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        post(number_at(ring.out(number_)), number_, *ring.neighbor->postbox);
    }
    int test_receive() override {
        for (std::size_t i = 0; i < rings_.size(); ++i) {
            Ring& ring = rings_[i];
            if (ring.reported || number_at(ring.in(number_)).load(std::memory_order_acquire) != number_) continue;
            ring.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }
    bool test_sends() override { return true; }
    void consumed(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        if (ring.one_way()) post(ring.consumed_here->value, number_, *ring.neighbor->postbox);
    }

    std::string state(int i) const override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        std::string text;
        if (ring.channel.receive_bytes > 0)
            text = "it has sent number " + std::to_string(std::max(number_at(ring.in(0)).load(), number_at(ring.in(1)).load()));
        if (ring.channel.send_bytes > 0 && ring.one_way())
            text = "it has read number " + std::to_string(ring.consumed_there->value.load());
        return text.empty() ? text : " (" + text + ")";
    }

private:
    void allocate() {
        byte_count total = 0;
        for (const Ring& ring : rings_) total += 2 * slot_bytes(ring.channel.receive_bytes);
        memory_ = make_bytes(total);
        lines_ = make_lines<SequenceLine>(rings_.size());
        std::byte* next = memory_.get();
        for (std::size_t i = 0; i < rings_.size(); ++i) {
            Ring& ring = rings_[i];
            ring.incoming = next;
            ring.consumed_here = &lines_.get()[i];
            next += 2 * slot_bytes(ring.channel.receive_bytes);
            for (std::uint64_t slot : {0, 1}) new (ring.in(slot)) std::atomic<std::uint64_t>(0);  // recycled memory has old numbers
        }
    }

    void shake_hands(const TransportContext& context) {
        std::vector<Words> letters;
        for (const Ring& ring : rings_) {
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            put_place(letter, describe_place(ring.incoming));
            put_place(letter, describe_place(ring.consumed_here));
        }
        exchange_letters(context, letters, [&](std::size_t i, WordReader& letter) {
            Ring& ring = rings_[i];
            ring.neighbor = &node_.meet(ring.channel.rank, get_place(letter));
            ring.slots_there = map_place(get_place(letter));
            ring.lines_there = map_place(get_place(letter));
            ring.outgoing = ring.slots_there.get();
            ring.consumed_there = reinterpret_cast<SequenceLine*>(ring.lines_there.get());
        });
    }

    NodeContext& node_;
    std::vector<Ring> rings_;
    std::shared_ptr<std::byte> memory_;
    std::shared_ptr<SequenceLine> lines_;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_staged_shared_reverse(const TransportContext& context) {
    const auto make_messenger = [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<StagedShared>(with, channels);
    };
    TransportContext only_reverse = context;
    only_reverse.lanes = Lanes::reverse;
    return make_message_transport(only_reverse, make_messenger,
                                  {Buffers::messengers, &context.plan.communicator().shared_state<NodeContext>()});
}

}  // namespace parhelion

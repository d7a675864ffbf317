// The reverse direction through rings: whole messages, for they are combined in a fixed order once all are there. Rings and
// numbers are as in staged_shared.cpp.
#include <algorithm>
#include <utility>

#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/slots.hpp"

namespace parhelion {
namespace {

using namespace slots;

struct Ring {
    Channel channel;
    NodeNeighbor* neighbor = nullptr;
    std::byte* here = nullptr;         // what the neighbor has read, and slots
    std::shared_ptr<std::byte> there;  // what this rank has read, and slots
    bool reported = true;

    bool one_way() const { return (channel.send_bytes > 0) != (channel.receive_bytes > 0); }
    std::uint64_t slots() const { return slot_count(one_way()); }
    std::byte* in(std::uint64_t number) const {
        return here + line + static_cast<byte_count>(number % slots()) * slot_bytes(channel.receive_bytes);
    }
    std::byte* out(std::uint64_t number) const {
        return there.get() + line + static_cast<byte_count>(number % slots()) * slot_bytes(channel.send_bytes);
    }
    byte_count bytes_here() const { return ring_bytes(slot_bytes(channel.receive_bytes), one_way()); }
    std::atomic<std::uint64_t>& read_there() const { return acknowledged(here).value; }
    std::atomic<std::uint64_t>& read_here() const { return acknowledged(there.get()).value; }
};

class StagedReverse final : public Messenger {
public:
    StagedReverse(const TransportContext& context, const std::vector<Channel>& channels, std::shared_ptr<Memory> memory)
        : node_(context.plan.communicator().shared_state<NodeContext>()), source_(std::move(memory)) {
        for (const Channel& channel : channels) rings_.emplace_back().channel = channel;
        shake_hands(context);
    }

    // As in staged_shared.cpp.
    ~StagedReverse() override {
        if (std::any_of(rings_.begin(), rings_.end(), [](const Ring& ring) { return !ring.reported; })) {
            leave_behind(memory_);
            return;
        }
        std::vector<Awaited> awaited;
        for (const Ring& ring : rings_)
            if (ring.channel.send_bytes > 0 && ring.one_way()) awaited.push_back({&ring.read_there(), number_});
        leave_behind_until(memory_, std::move(awaited));
    }

    void start_receives() override {
        ++number_;
        for (Ring& ring : rings_) ring.reported = ring.channel.receive_bytes == 0;
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
    bool unread(int i) const override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        return ring.channel.send_bytes > 0 && ring.one_way() &&
               ring.read_there().load(std::memory_order_acquire) + unread_at_end < number_;
    }
    bool test_sends() override {
        for (int i = 0; i < static_cast<int>(rings_.size()); ++i)
            if (unread(i)) return false;
        return true;
    }
    void consumed(int i) override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        if (ring.one_way()) post(ring.read_here(), number_, *ring.neighbor->postbox);
    }

    std::string state(int i) const override {
        const Ring& ring = rings_[static_cast<std::size_t>(i)];
        std::string text;
        if (ring.channel.receive_bytes > 0) {
            std::uint64_t last = 0;
            for (std::uint64_t slot = 0; slot < ring.slots(); ++slot) last = std::max(last, number_at(ring.in(slot)).load());
            text = "it has sent number " + std::to_string(last);
        }
        if (ring.channel.send_bytes > 0 && ring.one_way())
            text = "it has read number " + std::to_string(ring.read_there().load());
        return text.empty() ? text : " (" + text + ")";
    }

private:
    void allocate() {
        byte_count total = 0;
        for (const Ring& ring : rings_) total += ring.bytes_here();
        memory_ = source_->allocate(total);
        std::byte* next = memory_.get();
        for (Ring& ring : rings_) {
            ring.here = next;
            new (next) SequenceLine;  // recycled memory has old numbers
            next += ring.bytes_here();
            for (std::uint64_t slot = 0; slot < ring.slots(); ++slot) new (ring.in(slot)) std::atomic<std::uint64_t>(0);
        }
    }

    std::vector<Words> write_letters() {
        allocate();
        std::vector<Words> letters;
        for (const Ring& ring : rings_) {
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            source_->describe(letter, ring.here);
        }
        return letters;
    }

    void shake_hands(const TransportContext& context) {
        exchange_letters(context, [this] { return write_letters(); }, [&](std::size_t i, WordReader& letter) {
            Ring& ring = rings_[i];
            ring.neighbor = &node_.meet(ring.channel.rank, get_place(letter));
            ring.there = source_->find(letter, ring.channel.rank);
        });
    }

    NodeContext& node_;
    std::shared_ptr<Memory> source_;
    std::vector<Ring> rings_;
    std::shared_ptr<std::byte> memory_;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_staged_reverse(const TransportContext& context, std::shared_ptr<slots::Memory> memory) {
    const auto make_messenger = [memory](const TransportContext& with, const std::vector<Channel>& channels) {
        return std::make_unique<StagedReverse>(with, channels, memory);
    };
    return make_message_transport(context, make_messenger,
                                  {Buffers::messengers, &context.plan.communicator().shared_state<NodeContext>()});
}

std::unique_ptr<Transport> make_staged_shared_reverse(const TransportContext& context) {
    return make_staged_reverse(context, std::make_shared<slots::NodeMemory>());
}

}  // namespace parhelion

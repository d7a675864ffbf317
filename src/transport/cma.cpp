// One process reads another's memory (process_vm_readv): one copy between private buffers or arrays, by the kernel.
//
// The sender packs (or points at the array itself, where the message is one piece) and offers; the receiver reads straight
// into its buffer or ghosts and tells that it has. Every read is a system call of about a microsecond plus the copy, and costs
// per page: thin faces are packed first.
//
// No exchange waits for a reader that is busy elsewhere. Packed messages lie in slots, as in staged_shared.cpp. An array belongs to the
// caller again when the exchange ends: a message that is offered in it and has found no reader by then is taken back and offered
// in a slot. The reader claims what lies in an array before it reads it.
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "parhelion/core/aligned.hpp"
#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/message_type.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/slots.hpp"

namespace parhelion {
namespace {

// What becomes of message n: its offer is 4n and one of these.
enum State : std::uint64_t {
    in_array = 0,   // may be claimed
    claimed = 1,    // being read from the array
    withdrawn = 2,  // read from the array, or taken back
    in_slot = 3     // may be read at any time
};
constexpr std::uint64_t offer_of(std::uint64_t number, State state) { return 4 * number + state; }

// Written by the sender, claimed by the reader.
struct alignas(64) Offer {
    std::atomic<std::uint64_t> value{0};
    std::atomic<const std::byte*> at{nullptr};  // in the sender's address space
};

// In the sender's memory.
struct CmaLines {
    Offer offers[slots::slot_count(true)];
    SequenceLine taken;  // written by the reader: what it has read
};

struct Pipe {
    Channel channel;
    NodeNeighbor* neighbor = nullptr;
    CmaLines* mine = nullptr;    // for what is sent
    CmaLines* theirs = nullptr;  // for what is received
    std::shared_ptr<std::byte> their_lines;
    std::byte* slots = nullptr;
    bool reported = true;

    bool sends() const { return channel.send_bytes > 0; }
    bool one_way() const { return sends() != (channel.receive_bytes > 0); }
    byte_count bytes_of_slots() const { return static_cast<byte_count>(slots::slot_count(one_way())) * whole_lines(channel.send_bytes); }
    std::byte* slot(std::uint64_t number) const {
        return slots + static_cast<byte_count>(number % slots::slot_count(one_way())) * whole_lines(channel.send_bytes);
    }
    Offer& offered_by(CmaLines* lines, std::uint64_t number) const { return lines->offers[number % slots::slot_count(one_way())]; }
    std::uint64_t taken() const { return mine->taken.value.load(std::memory_order_acquire); }
};

// Linux moves at most 2 GiB − 4 KiB in one call. False when there is no such process any more.
bool read_from(std::int64_t process, std::byte* to, const std::byte* from, byte_count bytes) {
    while (bytes > 0) {
        const auto piece = static_cast<std::size_t>(std::min(bytes, largest_count()));
        iovec here{to, piece}, there{const_cast<std::byte*>(from), piece};
        const ssize_t moved = process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
        if (moved < 0 && errno == ESRCH) return false;
        if (moved <= 0)
            throw Error("cannot read the memory of process " + std::to_string(process) + " (" + std::strerror(errno) +
                            "): containers and kernel.yama.ptrace_scope can forbid it; use transport shared, staged_shared or "
                            "mpi_persistent",
                        ErrorKind::system);
        to += moved;
        from += moved;
        bytes -= moved;
    }
    return true;
}

class Cma final : public Messenger {
public:
    Cma(const TransportContext& context, const std::vector<Channel>& channels)
        : node_(context.plan.communicator().shared_state<NodeContext>()), arrays_(context.arrays), pipes_(channels.size()) {
        for (std::size_t i = 0; i < channels.size(); ++i) pipes_[i].channel = channels[i];
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where Yama restricts reading to parents; no effect elsewhere
        shake_hands(context);
    }

    // A neighbor may read what lies in slots after this rank has ended the exchange; what lies in arrays, not.
    ~Cma() override {
        for (const Pipe& pipe : pipes_)
            if (pipe.channel.sends_array() && pipe.taken() < number_ && !lies_in_slot(pipe))
                pipe.offered_by(pipe.mine, number_).value.exchange(offer_of(number_, withdrawn));
        std::vector<Awaited> awaited;
        for (const Pipe& pipe : pipes_)
            if (pipe.sends()) awaited.push_back({&pipe.mine->taken.value, number_});
        leave_behind_until(std::make_shared<std::pair<decltype(lines_), decltype(memory_)>>(lines_, memory_), std::move(awaited));
    }

    void start_receives() override {
        for (Pipe& pipe : pipes_) pipe.reported = pipe.channel.receive_bytes == 0;
        ++number_;
        patience_ = node_.oversubscribed() ? 0 : polls_before_taking_back;
    }
    std::byte* send_buffer(int i) override { return pipes_[static_cast<std::size_t>(i)].slot(number_); }
    void start_send(int i) override {
        const Pipe& pipe = pipes_[static_cast<std::size_t>(i)];
        if (pipe.channel.sends_array()) offer(pipe, pipe.channel.source(arrays_.bases()), in_array);
        else offer(pipe, pipe.slot(number_), in_slot);
    }
    int test_receive() override {
        for (std::size_t i = 0; i < pipes_.size(); ++i) {
            Pipe& pipe = pipes_[i];
            if (pipe.reported || !read(pipe)) continue;
            pipe.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }
    bool test_sends() override {
        bool all = true;
        for (const Pipe& pipe : pipes_) all = may_end(pipe) && all;
        if (patience_ > 0) --patience_;
        return all;
    }
    bool unread(int i) const override {
        const Pipe& pipe = pipes_[static_cast<std::size_t>(i)];
        return pipe.sends() && pipe.one_way() && pipe.taken() + slots::unread_at_end < number_;
    }

    std::string state(int i) const override {
        const Pipe& pipe = pipes_[static_cast<std::size_t>(i)];
        std::uint64_t last = 0;
        for (const Offer& offer : pipe.theirs->offers) last = std::max(last, offer.value.load() / 4);
        const std::string offered = "it has sent number " + std::to_string(last);
        const std::string taken = "read number " + std::to_string(pipe.taken());
        return " (" + offered + " and " + taken + ")";
    }

private:
    static constexpr int polls_before_taking_back = 1000;  // some 20 µs: a copy more costs as much

    void offer(const Pipe& pipe, const std::byte* at, State state) const {
        Offer& offer = pipe.offered_by(pipe.mine, number_);
        offer.at.store(at, std::memory_order_relaxed);
        post(offer.value, offer_of(number_, state), *pipe.neighbor->postbox);
    }
    bool lies_in_slot(const Pipe& pipe) const {
        return pipe.offered_by(pipe.mine, number_).value.load(std::memory_order_relaxed) == offer_of(number_, in_slot);
    }

    // Whether the arrays may change, and a slot will be free for the next message.
    bool may_end(const Pipe& pipe) {
        if (!pipe.sends() || pipe.taken() >= number_) return true;
        if (pipe.channel.sends_array() && !lies_in_slot(pipe) && !taken_back(pipe)) return false;
        return !pipe.one_way() || pipe.taken() + slots::unread_at_end >= number_;
    }

    bool taken_back(const Pipe& pipe) const {
        std::uint64_t open = offer_of(number_, in_array);
        auto& offered = pipe.offered_by(pipe.mine, number_).value;
        if (patience_ > 0 || !offered.compare_exchange_strong(open, offer_of(number_, withdrawn))) return false;
        std::memcpy(pipe.slot(number_), pipe.channel.source(arrays_.bases()), static_cast<std::size_t>(pipe.channel.send_bytes));
        offer(pipe, pipe.slot(number_), in_slot);
        return true;
    }

    bool read(const Pipe& pipe) const {
        Offer& offer = pipe.offered_by(pipe.theirs, number_);
        std::uint64_t found = offer.value.load(std::memory_order_acquire);
        const bool from_array = found == offer_of(number_, in_array);
        if (!from_array && found != offer_of(number_, in_slot)) return false;
        const std::byte* const at = offer.at.load(std::memory_order_relaxed);
        if (from_array && !offer.value.compare_exchange_strong(found, offer_of(number_, claimed))) return false;
        // A process that is not there any more is noticed by whoever waits.
        if (!read_from(pipe.neighbor->process, pipe.channel.target(arrays_.bases()), at, pipe.channel.receive_bytes)) return false;
        std::uint64_t still = offer_of(number_, claimed);
        if (from_array && !offer.value.compare_exchange_strong(still, offer_of(number_, withdrawn))) return false;  // it gave up
        post(pipe.theirs->taken.value, number_, *pipe.neighbor->postbox);
        return true;
    }

    void allocate() {
        lines_ = make_lines<CmaLines>(pipes_.size());
        byte_count total = 0;
        for (const Pipe& pipe : pipes_) total += pipe.bytes_of_slots();
        memory_ = allocate_aligned(total);
        std::byte* next = memory_.get();
        for (std::size_t i = 0; i < pipes_.size(); ++i) {
            pipes_[i].mine = &lines_.get()[i];
            pipes_[i].slots = next;
            next += pipes_[i].bytes_of_slots();
        }
    }

    std::vector<Words> write_letters() {
        allocate();
        std::vector<Words> letters;
        for (const Pipe& pipe : pipes_) {
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            put_place(letter, describe_place(pipe.mine));
            letter.push_back(reinterpret_cast<global_index>(pipe.mine));
        }
        return letters;
    }

    void shake_hands(const TransportContext& context) {
        exchange_letters(
            context, [this] { return write_letters(); },
            [&](std::size_t i, WordReader& letter) {
                Pipe& pipe = pipes_[i];
                pipe.neighbor = &node_.meet(pipe.channel.rank, get_place(letter));
                pipe.their_lines = map_place(get_place(letter));
                pipe.theirs = reinterpret_cast<CmaLines*>(pipe.their_lines.get());
                const auto* const readable = reinterpret_cast<const std::byte*>(letter.next());
                std::byte probe;  // whether it is allowed is known only by doing it
                read_from(pipe.neighbor->process, &probe, readable, 1);
            });
    }

    NodeContext& node_;
    const BoundArrays& arrays_;
    std::vector<Pipe> pipes_;
    std::shared_ptr<CmaLines> lines_;
    std::shared_ptr<std::byte[]> memory_;
    std::uint64_t number_ = 0;
    int patience_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_cma(const TransportContext& context) {
    const auto make_messenger = [](const TransportContext& with, const std::vector<Channel>& channels) {
        return std::make_unique<Cma>(with, channels);
    };
    return make_message_transport(context, make_messenger,
                                  {Buffers::receives_private, &context.plan.communicator().shared_state<NodeContext>()});
}

}  // namespace parhelion

// One process reads another's memory (process_vm_readv): one copy between private buffers or arrays, by the kernel.
//
// The sender packs (or points at the array itself, where the message is one piece) and tells; the receiver reads straight
// into its buffer or ghosts and tells that it has. Every read is a system call of about a microsecond plus the copy, and costs
// per page: thin faces are packed first.
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/factories.hpp"
#include "transport/message_type.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {
namespace {

// Written by the neighbor, polled here.
struct CmaLines {
    SequenceLine full;   ///< its message may be read
    SequenceLine taken;  ///< it has read this rank's message
};

struct Pipe {
    Channel channel;
    NodeNeighbor* neighbor = nullptr;
    CmaLines* mine = nullptr;
    CmaLines* theirs = nullptr;
    std::shared_ptr<std::byte> their_lines;
    std::byte* source = nullptr;  // in the neighbor's address space
    bool reported = true;
};

// Linux moves at most 2 GiB − 4 KiB in one call. False when there is no such process any more.
bool read_from(std::int64_t process, std::byte* to, std::byte* from, byte_count bytes) {
    while (bytes > 0) {
        const auto piece = static_cast<std::size_t>(std::min(bytes, largest_count()));
        iovec here{to, piece}, there{from, piece};
        const ssize_t moved = process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
        if (moved < 0 && errno == ESRCH) return false;
        if (moved <= 0)
            throw Error("cannot read the memory of process " + std::to_string(process) + " (" + std::strerror(errno) +
                        "): containers and kernel.yama.ptrace_scope can forbid it; use transport shared, staged_shared or "
                        "mpi_persistent", ErrorKind::system);
        to += moved;
        from += moved;
        bytes -= moved;
    }
    return true;
}

class Cma final : public Messenger {
public:
    Cma(const TransportContext& context, const std::vector<Channel>& channels)
        : node_(context.plan.communicator().shared_state<NodeContext>()), pipes_(channels.size()) {
        for (std::size_t i = 0; i < channels.size(); ++i) pipes_[i].channel = channels[i];
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where Yama restricts reading to parents; no effect elsewhere
        validate_together(context.plan.communicator(), [&] { lines_ = make_lines<CmaLines>(pipes_.size()); });
        shake_hands(context);
    }

    void start_receives() override {
        for (Pipe& pipe : pipes_) pipe.reported = pipe.channel.receive_bytes == 0;
        ++number_;
    }
    void start_send(int i) override {
        Pipe& pipe = pipes_[static_cast<std::size_t>(i)];
        post(pipe.theirs->full.value, number_, *pipe.neighbor->postbox);
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
        for (const Pipe& pipe : pipes_)
            if (pipe.channel.send_bytes > 0 && pipe.mine->taken.value.load(std::memory_order_acquire) < number_) return false;
        return true;
    }

    std::string state(int i) const override {
        const Pipe& pipe = pipes_[static_cast<std::size_t>(i)];
        return " (it has sent number " + std::to_string(pipe.mine->full.value.load()) + " and read number " +
               std::to_string(pipe.mine->taken.value.load()) + ")";
    }

private:
    bool read(Pipe& pipe) {
        if (pipe.mine->full.value.load(std::memory_order_acquire) < number_) return false;
        const auto process = pipe.neighbor->process;
        if (!read_from(process, pipe.channel.receive, pipe.source, pipe.channel.receive_bytes)) return false;  // the wait notices
        post(pipe.theirs->taken.value, number_, *pipe.neighbor->postbox);
        return true;
    }

    void shake_hands(const TransportContext& context) {
        std::vector<Words> letters;
        for (std::size_t i = 0; i < pipes_.size(); ++i) {
            pipes_[i].mine = &lines_.get()[i];
            Words& letter = letters.emplace_back();
            put_place(letter, node_.postbox_place());
            put_place(letter, describe_place(pipes_[i].mine));
            letter.push_back(reinterpret_cast<global_index>(pipes_[i].channel.send));
        }
        exchange_letters(context, letters, [&](std::size_t i, WordReader& letter) {
            Pipe& pipe = pipes_[i];
            pipe.neighbor = &node_.meet(pipe.channel.rank, get_place(letter));
            pipe.their_lines = map_place(get_place(letter));
            pipe.theirs = reinterpret_cast<CmaLines*>(pipe.their_lines.get());
            pipe.source = reinterpret_cast<std::byte*>(letter.next());
            std::byte probe;  // whether it is allowed is known only by doing it
            if (pipe.channel.receive_bytes > 0) read_from(pipe.neighbor->process, &probe, pipe.source, 1);
        });
    }

    NodeContext& node_;
    std::vector<Pipe> pipes_;
    std::shared_ptr<CmaLines> lines_;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_cma(const TransportContext& context) {
    const auto make_messenger = [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<Cma>(with, channels);
    };
    return make_message_transport(context, make_messenger, {Buffers::arrays_or_private,
                                  &context.plan.communicator().shared_state<NodeContext>()});
}

}  // namespace parhelion

// Tagged messages by UCX.
//
// The receiver chooses the tag of each of its messages and tells the sender once, so that tags are
// its own business, whatever the communicators.
#include "core/lost_rank.hpp"
#include "transport/messenger.hpp"
#include "transport/node/handshake.hpp"
#include "transport/ucx/handles.hpp"

namespace parhelion {
namespace {

struct Peer {
    Channel channel;
    std::shared_ptr<UcxEndpoint> endpoint;
    std::uint64_t tag_here = 0, tag_there = 0;
    UcxOperation sending, receiving;
    bool reported = true;
};

class UcxMessages final : public Messenger {
public:
    UcxMessages(const TransportContext& context, const std::vector<Channel>& channels,
                std::shared_ptr<UcxWorker> worker, const UcxNeighbors& neighbors)
        : worker_(std::move(worker)), arrays_(context.arrays), peers_(channels.size()) {
        for (std::size_t i = 0; i < channels.size(); ++i) {
            peers_[i].channel = channels[i];
            peers_[i].endpoint = neighbors.at(channels[i].rank);
        }
        shake_hands(context);
    }
    ~UcxMessages() override {
        for (Peer& peer : peers_)
            for (UcxOperation* operation : {&peer.sending, &peer.receiving})
                if (!operation->done) worker_->give_up(peer.endpoint, *operation);
    }

    void start_receives() override {
        for (Peer& peer : peers_) {
            const Channel& channel = peer.channel;
            peer.reported = channel.receive_bytes == 0;
            if (!peer.reported)
                worker_->receive(peer.tag_here, channel.target(arrays_.bases()),
                                 static_cast<std::size_t>(channel.receive_bytes), peer.receiving);
        }
    }
    void start_send(int i) override {
        Peer& peer = peers_[i];
        const Channel& channel = peer.channel;
        worker_->send(*peer.endpoint, peer.tag_there, channel.source(arrays_.bases()),
                      static_cast<std::size_t>(channel.send_bytes), peer.sending);
    }
    int test_receive() override {
        worker_->progress();
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            Peer& peer = peers_[i];
            if (peer.reported || !is_done(peer, peer.receiving)) continue;
            peer.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }
    bool test_sends() override {
        bool all = true;
        for (Peer& peer : peers_) all = is_done(peer, peer.sending) && all;
        if (!all) worker_->progress();
        return all;
    }

private:
    static bool is_done(const Peer& peer, const UcxOperation& operation) {
        if (!operation.done.load(std::memory_order_acquire)) {
            if (const int failure = peer.endpoint->failure.load(std::memory_order_acquire);
                failure != UCS_OK)
                lost(peer, failure);
            return false;
        }
        if (const int status = operation.status.load(std::memory_order_relaxed); status != UCS_OK)
            lost(peer, status);
        return true;
    }

    [[noreturn]] static void lost(const Peer& peer, int failure) {
        throw LostRank(peer.channel.rank,
                       std::string(" or cannot be reached any more (UCX: ") +
                           ucx_library().status_string(static_cast<ucs_status_t>(failure)) +
                           "): look for its error message, at the network between the two hosts, "
                           "and start the job again");
    }

    void shake_hands(const TransportContext& context) {
        std::vector<Words> headers(context.links.size());
        for (Peer& peer : peers_) {
            peer.tag_here = worker_->new_tag();
            headers[peer.channel.link].push_back(static_cast<global_index>(peer.tag_here));
        }
        exchange_headers(
            context, [&] { return headers; },
            [&](std::size_t i, WordReader& header) {
                for (Peer& peer : peers_)
                    if (static_cast<std::size_t>(peer.channel.link) == i)
                        peer.tag_there = static_cast<std::uint64_t>(header.next());
            });
    }

    std::shared_ptr<UcxWorker> worker_;
    const BoundArrays& arrays_;
    std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<Messenger> make_ucx_channels(const TransportContext& context,
                                             const std::vector<Channel>& channels,
                                             std::shared_ptr<UcxWorker> worker,
                                             const UcxNeighbors& neighbors) {
    return std::make_unique<UcxMessages>(context, channels, std::move(worker), neighbors);
}

std::unique_ptr<Transport> make_ucx_messages(const TransportContext& context,
                                             std::shared_ptr<UcxWorker> worker,
                                             const UcxNeighbors& neighbors) {
    const auto make = [&](const TransportContext& with, const std::vector<Channel>& channels) {
        return make_ucx_channels(with, channels, worker, neighbors);
    };
    return make_message_transport(context, make, {.mpi = false, .pieces = true});
}

}  // namespace parhelion

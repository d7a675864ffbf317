// Transport ucx: tagged messages by UCX. Receivers choose their messages' tags and send them once:
// tags are independent of communicators.
#include <algorithm>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/lost_rank.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/ucx/worker.hpp"

namespace parhelion {
namespace {

using Endpoints = std::vector<std::shared_ptr<UcxEndpoint>>;  // by link

// Progresses until all ranks are connected.
void wait_for_connections(
    const TransportContext& context, UcxWorker& worker, const Endpoints& endpoints) {
  const Communicator& comm = context.plan.communicator();
  std::vector<UcxOperation> flushes(endpoints.size());
  for (std::size_t i = 0; i < flushes.size(); ++i) worker.flush(*endpoints[i], flushes[i]);
  try {
    PatientWait patience(comm);
    for (const UcxOperation& flush : flushes)
      for (; !flush.done; patience.wait()) worker.progress();
    begin_agreement(comm);
    for (; !agreement_is_over(comm); patience.wait()) worker.progress();
    end_agreement(comm);
  } catch (...) {
    for (std::size_t i = 0; i < flushes.size(); ++i)
      if (!flushes[i].done) worker.give_up(endpoints[i], flushes[i]);
    throw;
  }
  validate_together(comm, [&] {
    for (std::size_t i = 0; i < flushes.size(); ++i)
      if (const int status = flushes[i].status; status != UCS_OK)
        throw Error(concat("transport ucx cannot connect rank ", comm.rank(), " with rank ",
                        context.links[i]->rank, " (UCX status ", status, ")"),
            ErrorKind::system);
  });
}

// Collective. Throws a system error when UCX finds no device: other transports are used then.
std::shared_ptr<UcxWorker> worker_of(const TransportContext& context) {
  std::shared_ptr<UcxWorker> worker;
  validate_together(context.plan.communicator(), [&] {
    try {
      worker = ucx_worker();
    } catch (const Error& error) {
      throw Error(
          std::string("transport ucx cannot be used here: ") + error.what(), ErrorKind::system);
    }
  });
  // Only a kept exchange creates its reverse direction; trials do not.
  if (!context.forward()) keep_until_finalize(worker);
  return worker;
}

struct Peer {
  Channel channel;
  std::shared_ptr<UcxEndpoint> endpoint;
  std::uint64_t tag_here = 0, tag_there = 0;
  UcxOperation sending, receiving;
  bool reported = true;
};

class UcxMessages final : public Messenger {
 public:
  UcxMessages(const TransportContext& context, const std::vector<Channel>& channels)
      : worker_(worker_of(context)), arrays_(context.arrays), peers_(channels.size()) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      peers_[i].channel = channels[i];
      peers_[i].tag_here = worker_->new_tag();
    }
    connect(context);
  }
  ~UcxMessages() override {
    if (is_forked_child()) {  // the connections are the parent's
      new std::shared_ptr<UcxWorker>(worker_);
      return;
    }
    for (Peer& peer : peers_)
      for (UcxOperation* operation : {&peer.sending, &peer.receiving})
        if (!operation->done) worker_->give_up(peer.endpoint, *operation);
  }

  void start_receives() override {
    for (Peer& peer : peers_) {
      const Channel& channel = peer.channel;
      peer.reported = channel.receive.bytes == 0;
      if (!peer.reported)
        worker_->receive(peer.tag_here, channel.receive.in(arrays_.bases()),
            static_cast<std::size_t>(channel.receive.bytes), peer.receiving);
    }
  }
  void start_send(int i) override {
    Peer& peer = peers_[i];
    const Channel& channel = peer.channel;
    worker_->send(*peer.endpoint, peer.tag_there, channel.send.in(arrays_.bases()),
        static_cast<std::size_t>(channel.send.bytes), peer.sending);
  }
  int test_receive() override {
    if (!peers_.empty()) worker_->progress();
    return report_next(peers_, [](Peer& peer) { return is_done(peer, peer.receiving); });
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
    throw LostRank(
        peer.channel.rank, std::string(" or cannot be reached any more (UCX: ") +
                               ucx_library().status_string(static_cast<ucs_status_t>(failure)) +
                               "): check its error message and the network between the two hosts, "
                               "and start the job again");
  }

  // Collective: exchanges addresses, then connections to use and the channels' tags.
  void connect(const TransportContext& context) {
    std::vector<std::string> addresses(context.links.size());
    const auto own_address = [&] {
      Words header;
      put_list(header, worker_->address());
      return std::vector<Words>(addresses.size(), header);
    };
    exchange_headers(context, own_address, [&](std::size_t i, WordReader& header) {
      const auto address = header.list<char>();
      addresses[i].assign(address.begin(), address.end());
    });
    std::vector<Words> headers;
    for (const std::string& address : addresses)
      headers.push_back({worker_->connection_to_use(address)});
    for (const Peer& peer : peers_) headers[peer.channel.link].push_back(peer.tag_here);
    Endpoints endpoints(addresses.size());
    exchange_headers(
        context, [&] { return headers; },
        [&](std::size_t i, WordReader& header) {
          endpoints[i] = worker_->connect(
              addresses[i], std::max<std::int64_t>(headers[i].front(), header.next()));
          for (Peer& peer : peers_)
            if (static_cast<std::size_t>(peer.channel.link) == i) {
              peer.endpoint = endpoints[i];
              peer.tag_there = header.next<std::uint64_t>();
            }
        });
    wait_for_connections(context, *worker_, endpoints);
  }

  std::shared_ptr<UcxWorker> worker_;
  const BoundArrays& arrays_;
  std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<Messenger> make_ucx_messenger(
    const TransportContext& context, std::vector<Channel> channels) {
  return std::make_unique<UcxMessages>(context, channels);
}

}  // namespace parhelion

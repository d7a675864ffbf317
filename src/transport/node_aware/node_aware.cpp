// Transports node_aware(mpi) and node_aware(ucx): collect the values for another node into few
// messages, each cell once.
//
// Each rank packs its Bundle for a node into the memory of that message's carrier and signals it.
// With all bundles, the carrier sends the message. The receiving carrier has node-shared memory for
// it and signals the waiting ranks; each unpacks its own ghosts.
//
// Memory has two slots; exchange n uses slot n mod 2. A rank ends exchange n when the messages with
// its bundles have left in n−1; a carrier when its own has left and its received one of n−1 has
// been read. So begin always finds a free slot.
#include <algorithm>
#include <array>
#include <utility>

#include "core/concat.hpp"
#include "core/lost_rank.hpp"
#include "parhelion/plan/executor.hpp"
#include "transport/factories.hpp"
#include "transport/node_aware/setup.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {
namespace {

class NodeAware final : public Transport {
 public:
  NodeAware(const TransportContext& context, const MakeMessenger& make)
      : plan_(context.plan), arrays_(context.arrays), queue_(context.queue),
        direction_(context.direction),
        node_(context.plan.communicator().shared_state<NodeContext>()), links_(context.links),
        work_(set_up_node(context)) {
    for (std::uint64_t number : {0, 1}) {
      std::vector<Channel> channels = make_channels(work_, number);
      std::vector<LinkPlan> peers(channels.size());
      std::vector<const LinkPlan*> links;
      for (std::size_t i = 0; i < channels.size(); ++i) {
        peers[i].rank = channels[i].rank;
        links.push_back(&peers[i]);
      }
      messengers_[number] = make({plan_, arrays_, direction_, queue_, context.has_reach, links,
                                     plan_.communicator().next_tag()},
          std::move(channels));
    }
  }

  // Late ranks still access this memory; after a failure, for an unknown time.
  ~NodeAware() override {
    const bool settled = std::ranges::all_of(
        messengers_, [](const auto& each) { return each == nullptr || each->settle(); });
    if (!settled || has_given_up() || !over_) {
      orphan(work_.memory);
      return;
    }
    if (number_ == 0) return;
    orphan_until_done(work_.memory, [this](std::vector<Awaited>& awaited) {
      for (const auto* all : {&work_.sent, &work_.got})
        for (const Carried& each : *all)
          for (const int user : each.users)
            awaited.push_back({&each.memory.line(user).over, number_});
    });
  }

  void begin() override {
    ++number_;
    all_sent_ = work_.sent.empty();
    over_ = false;
    messenger().start_receives();  // not into user arrays
    for (Carried& sent : work_.sent) sent.moved = false;
    for (Carried& got : work_.got) got.moved = false;
    for (Read& read : work_.reads) read.left = read.slots;
    for (Slot& slot : work_.slots) slot.reported = !slot.receives;
    for (Read& read : work_.reads) read.untold = false;
    for (Given& given : work_.given) {
      given.bundle.pack(queue_, arrays_.bases(), given.memory.slot(number_) + given.offset);
      tell_when_done(given);
    }
    get_on();
  }
  void leave() override { get_on(); }

  int ready() override {
    get_on();
    return report_next(
        work_.slots, [this](const Slot& slot) { return has_come(work_.reads[slot.read]); });
  }

  void deliver(int i, Reduction reduction) override {
    const Slot& slot = work_.slots[i];
    Read& read = work_.reads[slot.read];
    std::byte* const message = read.memory.slot(number_) + slot.from.offset;
    queue_.enqueue(slot.from.program, &message, arrays_.bases(), reduction);
    if (const Program& repeat = links_[i]->repeat;
        direction_ == Direction::forward && !repeat.empty())
      queue_.enqueue(repeat, arrays_.bases(), arrays_.bases());
    if (--read.left == 0) tell_when_done(read);
  }

  bool finished() override {
    get_on();
    if (!all_sent_ || !all_copied() || !may_leave()) return false;
    if (!std::exchange(over_, true)) tell_over();
    return true;
  }

  int expected() const override {
    return std::ranges::count_if(work_.slots, [](const Slot& slot) { return slot.receives; });
  }

  std::string state(int i) const override {
    const Slot& slot = work_.slots[i];
    if (slot.receives && !has_come(work_.reads[slot.read]))
      return waits_for(work_.reads[slot.read]);
    for (const Carried& sent : work_.sent)
      if (!sent.moved) return waits_for_parts(late(sent.name, sent.memory, number_), number_);
    for (const Given& given : work_.given)
      if (!has_left(given)) return waits_to_leave(given);
    return {};
  }

  std::vector<NodeTraffic> traffic() const override { return work_.traffic; }
  NodeContext* node() const override { return &node_; }
  bool passes_on() const override { return must_poll(); }
  bool must_poll() const override { return !work_.sent.empty() || !work_.got.empty(); }

 private:
  Messenger& messenger() { return *messengers_[number_ % 2]; }
  static Told& own(const Used& used) { return used.memory.line(used.line); }

  // Tells the carrier that this rank has packed its bundle or read the message.
  void tell(const Used& used) const {
    if (used.carrier == nullptr) own(used).number.store(number_, std::memory_order_release);
    else post(own(used).number, number_, *used.carrier->mailbox);
  }
  void tell_when_done(Used& used) {
    used.copied = queue_.record();
    used.untold = true;
    tell_if_done(used);
  }
  void tell_if_done(Used& used) {
    if (!used.untold || !queue_.is_done(used.copied)) return;
    used.untold = false;
    tell(used);
  }
  bool all_copied() const {
    return std::ranges::none_of(work_.given, &Used::untold) &&
           std::ranges::none_of(work_.reads, &Used::untold);
  }
  // Signals ranks whose bundles have left or whose ghosts have come.
  void tell_all(const Carried& carried) const {
    carried.memory.carrier().number.store(number_, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (NodeNeighbor* each : carried.neighbors) wake_if_asleep(*each->mailbox);
  }

  bool has_come(const Read& read) const {
    return read.memory.carrier().number.load(std::memory_order_acquire) >= number_;
  }
  bool has_left(const Given& given) const {
    return given.memory.carrier().number.load(std::memory_order_acquire) + 1 >= number_;
  }
  bool all_told(const Carried& carried, std::uint64_t number) const {
    return std::ranges::all_of(carried.users, [&](int user) {
      return carried.memory.line(user).number.load(std::memory_order_acquire) >= number;
    });
  }

  void get_on() {
    for (Given& given : work_.given) tell_if_done(given);
    for (Read& read : work_.reads) tell_if_done(read);
    for (Carried& sent : work_.sent)
      if (!sent.moved && all_told(sent, number_)) {
        sent.moved = true;
        messenger().start_send(sent.channel);
      }
    for (int channel; missing_messages() && (channel = messenger().test_receive()) >= 0;)
      for (Carried& got : work_.got)
        if (got.channel == channel) {
          got.moved = true;
          tell_all(got);
        }
    if (!all_sent_ && std::ranges::all_of(work_.sent, &Carried::moved) &&
        messenger().test_sends()) {
      all_sent_ = true;
      for (const Carried& sent : work_.sent) tell_all(sent);
    }
  }
  bool missing_messages() const { return !std::ranges::all_of(work_.got, &Carried::moved); }

  bool may_leave() const {
    return !missing_messages() && std::ranges::all_of(work_.got, [this](const Carried& got) {
      return all_told(got, number_ - 1);
    }) && std::ranges::all_of(work_.given, [this](const Given& given) { return has_left(given); });
  }
  // From here on this rank reads no other rank's numbers.
  void tell_over() const {
    for (const Given& given : work_.given)
      own(given).over.store(number_, std::memory_order_release);
    for (const Read& read : work_.reads) own(read).over.store(number_, std::memory_order_release);
  }
  std::string waits_for(const Read& read) const {
    return concat("waiting for the combined message of ", named_ranks(read.senders),
        " of another node in exchange number ", number_, ", which rank ", read.carrier_rank,
        " receives (it has announced number ", read.memory.carrier().number.load(), ")");
  }
  // Ranks whose bundle is missing.
  std::vector<int> late(
      const SliceName& name, const SliceMemory& memory, std::uint64_t number) const {
    std::vector<int> ranks;
    const Route& route = work_.route_to(name.node);
    for (const Route::Part& part : route.parts)
      if (const int rank = work_.ranks[part.node_rank];
          part.slice == name.slice && memory.line(route.candidate(rank)).number.load() < number)
        ranks.push_back(rank);
    return ranks;
  }
  static std::string waits_for_parts(const std::vector<int>& ranks, std::uint64_t number) {
    return concat(
        "waiting for ", named_ranks(ranks), " of this node to begin exchange number ", number);
  }
  std::string waits_to_leave(const Given& given) const {
    const std::uint64_t before = number_ - 1;
    if (const std::vector<int> ranks = late(given.name, given.memory, before); !ranks.empty())
      return waits_for_parts(ranks, before);
    return concat("waiting for rank ", given.carrier_rank,
        " of this node to send its combined message to the node of rank ", given.name.node);
  }

  const Plan& plan_;
  const BoundArrays& arrays_;
  Queue& queue_;
  const Direction direction_;
  NodeContext& node_;
  const std::vector<const LinkPlan*> links_;
  NodeWork work_;
  std::array<std::unique_ptr<Messenger>, 2> messengers_;  // by parity of the exchange
  std::uint64_t number_ = 0;
  bool all_sent_ = true, over_ = true;
};

}  // namespace

std::unique_ptr<Transport> make_node_aware(
    const TransportContext& context, const MakeMessenger& make) {
  return std::make_unique<NodeAware>(context, make);
}

}  // namespace parhelion

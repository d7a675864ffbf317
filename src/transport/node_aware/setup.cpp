#include "transport/node_aware/setup.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/collective_step.hpp"
#include "core/environment.hpp"
#include "plan/layout.hpp"
#include "transport/node/handshake.hpp"

namespace parhelion {

const Route::Part* Route::part_of(int node_rank) const {
  const auto found =
      std::ranges::find_if(parts, [&](const Part& part) { return part.node_rank == node_rank; });
  return found == parts.end() ? nullptr : &*found;
}

int Route::candidate(int rank) const {
  return std::ranges::find(candidates, rank) - candidates.begin();
}

namespace {

// Collective: allgather over this node, by node rank, through its first rank.
std::vector<Words> tell_node(const Communicator& comm, const Words& mine) {
  const std::vector<int> ranks = comm.node_ranks();
  const bool first = comm.rank() == ranks.front();
  const auto gathered = neighbor_exchange(
      comm, {message_of(mine, ranks.front())}, first ? ranks : std::vector<int>{});
  Words all;
  for (const Message& message : gathered) put_list(all, message.values<global_index>());
  std::vector<Message> copies;
  for (std::size_t i = 0; first && i < ranks.size(); ++i)
    copies.push_back(message_of(all, ranks[i]));
  const Words told =
      neighbor_exchange(comm, copies, {ranks.front()}).front().values<global_index>();
  WordReader reader(told);
  std::vector<Words> by_rank;
  while (by_rank.size() < ranks.size()) by_rank.push_back(reader.list<global_index>());
  return by_rank;
}

// The carrier of message `slice` of `slices` between two nodes: spread over the candidates, to use
// several sockets.
int carrier(const std::vector<int>& candidates, std::size_t slice, std::size_t slices) {
  return candidates[slice * candidates.size() / slices % candidates.size()];
}

// Distributes whole bundles over about equal messages.
void cut(Route& route, byte_count alignment) {
  const byte_count total = std::accumulate(route.parts.begin(), route.parts.end(), byte_count{0},
      [&](byte_count sum, const Route::Part& part) {
        return sum + aligned(part.bytes, alignment);
      });
  if (total == 0) return;
  const std::size_t count = node_messages(total, route.parts.size());
  std::size_t before = 0;
  for (std::size_t i = 0; i < route.parts.size(); ++i) {
    Route::Part& part = route.parts[i];
    const bool enough = before * count >= total * route.slices.size();
    const bool needed = route.parts.size() - i <= count - route.slices.size();
    if (route.slices.size() < count && (enough || needed)) route.slices.push_back(0);
    part.slice = static_cast<int>(route.slices.size()) - 1;
    part.offset = aligned(route.slices.back(), alignment);
    route.slices.back() = part.offset + part.bytes;
    before += aligned(part.bytes, alignment);
  }
}

struct Side {
  std::vector<int> candidates;
  std::vector<byte_count> slices;
};

class Setup {
 public:
  explicit Setup(const TransportContext& context)
      : context_(context), comm_(context.plan.communicator()),
        node_(comm_.shared_state<NodeContext>()) {
    work_.ranks = comm_.node_ranks();
    work_.node_rank = comm_.node_rank(comm_.rank());
  }

  NodeWork run() {
    learn_nodes();
    make_routes();
    tell_neighbors();
    validate_together(comm_, [&] { allocate(); });
    find_memory();
    return std::move(work_);
  }

 private:
  void learn_nodes() {
    node_of_.resize(links_.size());
    exchange_headers(
        context_, [&] { return std::vector<Words>(links_.size(), Words{work_.ranks.front()}); },
        [&](std::size_t i, WordReader& header) { node_of_[i] = header.next<int>(); });
    for (std::size_t i = 0; i < links_.size(); ++i) links_to_[node_of_[i]].push_back(i);
    for (const auto& [node, which] : links_to_) {
      std::vector<const LinkPlan*> links;
      for (const std::size_t i : which) links.push_back(links_[i]);
      bundles_.emplace(node, Bundle(context_.plan, context_.direction, std::move(links)));
    }
  }

  // Each rank tells, for every node that it exchanges with: its lowest rank, the bundle's bytes,
  // and messages and bytes without collecting.
  void make_routes() {
    Words mine;
    for (const auto& [node, which] : links_to_) {
      std::int64_t pairs = 0, bytes_in_pairs = 0;
      for (const std::size_t i : which)
        if (const byte_count bytes = context_.way(*links_[i]).send_bytes; bytes > 0)
          ++pairs, bytes_in_pairs += bytes;
      mine.insert(mine.end(), {node, bundles_.at(node).bytes(), pairs, bytes_in_pairs});
    }
    std::map<int, Route> routes;
    const std::vector<Words> told = tell_node(comm_, mine);
    for (std::size_t r = 0; r < told.size(); ++r)
      for (WordReader reader(told[r]); !reader.at_end();) {
        Route& route = routes[reader.next<int>()];
        route.candidates.push_back(work_.ranks[r]);
        if (const byte_count bytes = reader.next(); bytes > 0)
          route.parts.push_back({static_cast<int>(r), 0, 0, bytes});
        route.pairs += reader.next();
        route.bytes_in_pairs += reader.next();
      }
    std::size_t number = 0;
    for (auto& [node, route] : routes) {
      // Rotates the candidates: different ranks carry for different nodes.
      std::ranges::rotate(
          route.candidates, route.candidates.begin() + number++ % route.candidates.size());
      route.node = node;
      cut(route, Bundle::alignment(context_.plan, context_.direction));
      work_.traffic.push_back(
          {node, route.pairs, route.bytes_in_pairs, static_cast<std::int64_t>(route.slices.size()),
              std::accumulate(route.slices.begin(), route.slices.end(), byte_count{0})});
      if (links_to_.contains(node)) work_.routes.push_back(std::move(route));
    }
  }

  void tell_neighbors() {
    std::vector<Words> headers(links_.size());
    for (const auto& [node, which] : links_to_)
      for (std::size_t k = 0; k < which.size(); ++k) put_side(headers[which[k]], node, k);
    work_.slots.resize(links_.size());
    exchange_headers(
        context_, [&] { return headers; },
        [&](std::size_t i, WordReader& header) { get_side(header, i); });
    for (auto& [node, bundle] : bundles_) bundle.forget_where();
  }

  void put_side(Words& header, int node, std::size_t k) const {
    const Route& route = work_.route_to(node);
    const Route::Part* part = route.part_of(work_.node_rank);
    put_list(header, route.candidates);
    put_list(header, route.slices);
    header.push_back(part == nullptr ? -1 : part->slice);
    if (part == nullptr) return;
    header.push_back(part->offset);
    bundles_.at(node).describe(header, k);
  }

  void get_side(WordReader& header, std::size_t i) {
    Side& side = sides_[node_of_[i]];
    Slot& slot = work_.slots[i];
    side.candidates = header.list();
    side.slices = header.list<byte_count>();
    const int slice = header.next<int>();
    slot.receives = context_.way(*links_[i]).receive_bytes > 0;
    if (slice < 0) return;
    const byte_count offset = header.next();
    slot.from = Bundle::read(context_.plan, context_.direction, *links_[i], header, work_.lists);
    slot.from.offset += offset;
    if (!slot.receives) return;
    slot.read = read_of({node_of_[i], slice, true});
    std::vector<int>& senders = work_.reads[slot.read].senders = side.candidates;
    std::ranges::sort(senders);
  }

  std::size_t read_of(const SliceName& name) {
    std::size_t i = 0;
    while (i < work_.reads.size() && work_.reads[i].name != name) ++i;
    if (i == work_.reads.size()) work_.reads.emplace_back().name = name;
    ++work_.reads[i].slots;
    return i;
  }

  void allocate() {
    for (const auto& [node, side] : sides_) {
      carry({node, 0, false}, side.candidates, work_.route_to(node).slices);
      carry({node, 0, true}, side.candidates, side.slices);
    }
    byte_count total = 0;
    for_carried([&](Carried& each) { total += each.memory.size(); });
    if (total == 0) return;
    work_.memory = make_lines_of<Told>(total);
    std::byte* next = work_.memory.get();
    for_carried(
        [&](Carried& each) { each.memory.start = std::exchange(next, next + each.memory.size()); });
  }

  void carry(SliceName name, const std::vector<int>& there, const std::vector<byte_count>& slices) {
    for (std::size_t j = 0; j < slices.size(); ++j) {
      const std::vector<int>& candidates = work_.route_to(name.node).candidates;
      if (carrier(candidates, j, slices.size()) != comm_.rank()) continue;
      name.slice = j;
      (name.comes ? work_.got : work_.sent)
          .push_back({name, carrier(there, j, slices.size()),
              {nullptr, candidates.size(), slices[j]}, 0, {}, {}});
    }
  }

  template <class Act>
  void for_carried(Act&& act) {
    for (auto* all : {&work_.sent, &work_.got})
      for (Carried& each : *all) act(each);
  }
  template <class Act>
  void for_used(Act&& act) {
    for (Given& each : work_.given) act(each);
    for (Read& each : work_.reads) act(each);
  }

  // Exchanges, in the node, mailboxes, places of carried messages and the ranks that use them.
  void find_memory() {
    for (auto& [node, bundle] : bundles_)
      if (const Route::Part* part = work_.route_to(node).part_of(work_.node_rank))
        work_.given.push_back({{{node, part->slice, false}, 0, nullptr, {}, 0, nullptr},
            std::move(bundle), part->offset});
    Words mine;
    put_place(mine, node_.mailbox_place());
    const auto put = [&](const SliceName& name, bool is_carrier) {
      mine.insert(mine.end(), {name.node, name.slice, name.comes, is_carrier});
    };
    for_carried([&](const Carried& each) {
      put(each.name, true);
      put_place(mine, describe_place(each.memory.start));
    });
    for_used([&](const Used& each) { put(each.name, false); });
    const std::vector<Words> told = tell_node(comm_, mine);
    validate_together(comm_, [&] {
      for (std::size_t rank = 0; rank < told.size(); ++rank) {
        WordReader header(told[rank]);
        const RemotePlace mailbox = get_place(header);
        while (!header.at_end()) take(header, static_cast<int>(rank), mailbox);
      }
    });
  }

  NodeNeighbor* meet(int node_rank, const RemotePlace& mailbox) {
    return node_rank == work_.node_rank ? nullptr : &node_.meet(work_.ranks[node_rank], mailbox);
  }

  // Reads a message that `rank` carries or uses.
  void take(WordReader& header, int rank, const RemotePlace& mailbox) {
    const int node = header.next<int>(), slice = header.next<int>();
    const SliceName name{node, slice, header.next() != 0};
    if (header.next() == 0) return add_user(name, rank, mailbox);
    std::shared_ptr<std::byte> there;
    for_used([&](Used& used) {
      if (used.name != name) return;
      used.carrier_rank = work_.ranks[rank];
      if (!there) there = map_place(get_place(header));
      used.carrier = meet(rank, mailbox);
      used.keep = there;
      const Route& route = work_.route_to(node);
      const auto& slices = name.comes ? sides_.at(node).slices : route.slices;
      used.memory = {there.get(), route.candidates.size(), slices[slice]};
      used.line = route.candidate(comm_.rank());
    });
    if (!there) get_place(header);
  }

  void add_user(const SliceName& name, int rank, const RemotePlace& mailbox) {
    for_carried([&](Carried& each) {
      if (each.name != name) return;
      each.users.push_back(work_.route_to(name.node).candidate(work_.ranks[rank]));
      if (NodeNeighbor* const neighbor = meet(rank, mailbox)) each.neighbors.push_back(neighbor);
    });
  }

  const TransportContext& context_;
  const Communicator& comm_;
  NodeContext& node_;
  const std::vector<const LinkPlan*>& links_ = context_.links;
  std::vector<int> node_of_;                          // by link
  std::map<int, std::vector<std::size_t>> links_to_;  // by node, as the next two
  std::map<int, Bundle> bundles_;
  std::map<int, Side> sides_;
  NodeWork work_;
};

}  // namespace

NodeWork set_up_node(const TransportContext& context) { return Setup(context).run(); }

std::vector<Channel> make_channels(NodeWork& work, std::uint64_t number) {
  std::map<int, Channel> by_rank;
  for (const Carried& sent : work.sent)
    by_rank[sent.peer].send = {sent.memory.bytes, sent.memory.slot(number)};
  for (const Carried& got : work.got)
    by_rank[got.peer].receive = {got.memory.bytes, got.memory.slot(number)};
  std::vector<Channel> channels;
  for (auto& [rank, channel] : by_rank) {
    channel.rank = rank;
    channel.link = channels.size();
    for (auto* all : {&work.sent, &work.got})
      for (Carried& each : *all)
        if (each.peer == rank) each.channel = channel.link;
    channels.push_back(channel);
  }
  return channels;
}

}  // namespace parhelion

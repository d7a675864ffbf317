// Owners know all holders of their cells from ghost requests, and tell each the others.
#include "parhelion/pattern/shared_points.hpp"

#include <algorithm>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "pattern/piece_lists.hpp"

namespace parhelion {
namespace {

// A point of this rank and another rank that holds it.
struct Shared {
  int rank;
  global_index id;
  local_index point;
};

void require_single(const IndexedDomain& domain) {
  const auto ids = domain.ghost_ids();
  const auto by_id = domain.ghosts_by_id();
  for (std::size_t i = 0; i < by_id.size(); ++i) {
    const global_index id = ids[by_id[i]];
    const bool repeated = i > 0 && ids[by_id[i - 1]] == id;
    if (repeated || domain.ghost_owners()[by_id[i]] == domain.communicator().rank())
      refuse("this rank holds the point with global id ", id,
          (repeated ? " as two ghosts" : " as owner and as ghost"),
          ": a shared point needs one place on a rank; sum the values of one rank first, into "
          "one");
  }
}

// Other holders of each owned cell. Links list them in ascending order of id.
std::map<local_index, std::vector<int>> holders_of_owned(const Pattern& pattern) {
  std::map<local_index, std::vector<int>> holders;
  for (const Link& link : pattern.stages[0])
    for (local_index cell : link.send.cells) holders[cell].push_back(link.rank);
  return holders;
}

// To each reader: per ghost, in link order, number and ranks of its other holders.
std::vector<Message> news(
    const Pattern& pattern, const std::map<local_index, std::vector<int>>& holders) {
  std::vector<Message> messages;
  for (const Link& link : pattern.stages[0]) {
    if (link.send.cells.empty()) continue;
    std::vector<int> words;
    for (local_index cell : link.send.cells) {
      const std::vector<int>& all = holders.at(cell);
      words.push_back(static_cast<int>(all.size()) - 1);
      for (int rank : all)
        if (rank != link.rank) words.push_back(rank);
    }
    messages.push_back(message_of(words, link.rank));
  }
  return messages;
}

void add_news(const IndexedDomain& domain, const Link& link, const Message& message,
    std::vector<Shared>& shared) {
  const auto words = message.values<int>();
  auto next = words.begin();
  for (local_index cell : link.receive.cells) {
    const global_index id = domain.global_of(cell);
    shared.push_back({link.rank, id, cell});
    for (int others = *next++; others > 0; --others) shared.push_back({*next++, id, cell});
  }
}

std::vector<Shared> find_shared(const IndexedDomain& domain, const Pattern& pattern) {
  const auto holders = holders_of_owned(pattern);
  std::vector<Shared> shared;
  for (const auto& [cell, ranks] : holders)
    for (int rank : ranks) shared.push_back({rank, domain.global_of(cell), cell});
  std::vector<int> owners;
  std::vector<const Link*> read;
  for (const Link& link : pattern.stages[0])
    if (!link.receive.cells.empty()) owners.push_back(link.rank), read.push_back(&link);
  const auto told = neighbor_exchange(domain.communicator(), news(pattern, holders), owners);
  for (std::size_t i = 0; i < told.size(); ++i) add_news(domain, *read[i], told[i], shared);
  std::ranges::sort(shared, [](const Shared& a, const Shared& b) {
    return std::pair(a.rank, a.id) < std::pair(b.rank, b.id);
  });
  return shared;
}

Pattern to_all_holders(const IndexedDomain& domain, const std::vector<Shared>& shared) {
  std::map<int, Link> links;
  local_index slots = 0;
  for (const Shared& each : shared) {
    Link& link = links[each.rank];
    link.send.cells.push_back(each.point);
    link.receive.cells.push_back(domain.size() + slots++);
    link.send_unique = ++link.receive_unique;
  }
  return indexed_pattern(domain.communicator(), domain.size(), slots, std::move(links));
}

// Orders each point's slots by rank; derives the holders' turns.
void order(SharedPoints& found, const std::vector<Shared>& shared, int here) {
  struct First {
    local_index slot;
    int rank;
    int holders;
  };
  std::map<local_index, First> first;
  for (std::size_t slot = 0; slot < shared.size(); ++slot)
    ++first
          .try_emplace(
              shared[slot].point, First{static_cast<local_index>(slot), shared[slot].rank, 1})
          .first->second.holders;
  Holder own{here, {}, {}, {}, {}};
  for (const auto& [point, of] : first) {
    found.points.push_back(point);
    found.most_holders = std::max(found.most_holders, of.holders);
    if (of.rank > here) continue;
    own.into_slots.push_back(of.slot), own.from.push_back(point);
    found.given.push_back(point), found.gathered.push_back(of.slot);
  }
  std::map<int, Holder> turns;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const auto slot = static_cast<local_index>(i);
    const First& of = first.at(shared[i].point);
    Holder& turn =
        turns.try_emplace(shared[i].rank, Holder{shared[i].rank, {}, {}, {}, {}}).first->second;
    if (of.rank > here) turn.points.push_back(shared[i].point), turn.slots.push_back(slot);
    else if (of.slot != slot) turn.into_slots.push_back(of.slot), turn.from.push_back(slot);
  }
  if (!own.from.empty()) turns.emplace(here, std::move(own));
  for (auto& [rank, turn] : turns) found.holders.push_back(std::move(turn));
}

}  // namespace

SharedPoints find_shared_points(const IndexedDomain& domain) {
  return collectively(domain.communicator(), "the search for shared points", [&] {
    require_single(domain);
    const std::vector<Shared> shared = find_shared(domain, build_pattern(domain));
    SharedPoints found{to_all_holders(domain, shared), {}, {}, {}, {}, 1};
    order(found, shared, domain.communicator().rank());
    return found;
  });
}

}  // namespace parhelion

#include "parhelion/index_map/localize.hpp"

#include <map>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "parhelion/index_map/derive.hpp"

namespace parhelion {
namespace {

constexpr global_index none = -1;

std::vector<global_index> different(std::span<const global_index> connectivity) {
  std::vector<global_index> ids(connectivity.begin(), connectivity.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (!ids.empty() && ids.front() == none) ids.erase(ids.begin());
  return ids;
}

// By a distributed directory: each rank serves a range of ids. `ids` ascend.
std::vector<int> lowest_holders(const Communicator& comm, const std::vector<global_index>& ids) {
  const global_index ids_in_all = largest(comm, {ids.empty() ? 0 : ids.back() + 1}).front();
  const global_index range =
      std::max<global_index>(1, (ids_in_all + comm.size() - 1) / comm.size());
  std::vector<Message> questions;
  std::vector<int> asked;
  for (auto next = ids.begin(); next != ids.end();) {
    const int rank = *next / range;
    const auto end = std::lower_bound(next, ids.end(), (rank + 1) * range);
    questions.push_back(message_of(std::span(next, end), rank));
    asked.push_back(rank);
    next = end;
  }
  std::vector<Message> answers = sparse_exchange(comm,
      std::move(questions));  // sorted by rank: the first holder of an id is the lowest
  std::map<global_index, int> lowest;
  for (Message& message : answers) {
    std::vector<int> holders;
    for (global_index id : message.values<global_index>())
      holders.push_back(lowest.try_emplace(id, message.rank).first->second);
    message = message_of(holders, message.rank);
  }
  return joined_values<int>(neighbor_exchange(comm, answers, asked));
}

std::vector<local_index> numbered(
    std::span<const global_index> connectivity, const IndexedDomain& nodes) {
  std::vector<local_index> cells(connectivity.size());
  nodes.local_of(connectivity, cells);  // −1 if not a node
  return cells;
}

}  // namespace

Localized localize(std::span<const global_index> connectivity, const IndexedDomain& nodes) {
  return collectively(nodes.communicator(), "localize", [&]() -> Localized {
    IndexedDomain all = with_added_ghosts(nodes, different(connectivity));
    auto cells = numbered(connectivity, all);
    return {std::move(all), std::move(cells)};
  });
}

Localized localize(std::span<const global_index> connectivity, Communicator comm) {
  return collectively(comm, "localize", [&]() -> Localized {
    const auto ids = different(connectivity);
    constexpr global_index limit = global_index{1} << 62;
    if (!ids.empty() && (ids.front() < 0 || ids.back() >= limit))
      refuse("a cell has a node with global id ", ids.front() < 0 ? ids.front() : ids.back(),
          ": ids start at 0 and end below 2^62; −1 means none");
    const auto holders = lowest_holders(comm, ids);
    std::vector<global_index> owned, ghosts;
    for (std::size_t i = 0; i < ids.size(); ++i)
      (holders[i] == comm.rank() ? owned : ghosts).push_back(ids[i]);
    IndexedDomain nodes = IndexedDomain::with_owned_ids(std::move(owned), std::move(ghosts), comm);
    auto cells = numbered(connectivity, nodes);
    return {std::move(nodes), std::move(cells)};
  });
}

}  // namespace parhelion

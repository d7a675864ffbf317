// Index maps from neighbor lists, with generated global ids.
#include <functional>
#include <map>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "parhelion/index_map/index_map.hpp"

namespace parhelion {
namespace {

using Lists = std::map<int, std::vector<local_index>>;

// Owner and local number: the directory asks the owner directly.
global_index id_of(int rank, local_index cell) { return global_index{rank} << 32 | cell; }
int owner_of(global_index id) { return id >> 32; }

std::string listed(int rank, std::size_t cells) {
  return cells == 0 ? concat("rank ", rank, " lists none")
                    : concat("rank ", rank, " lists ", cells);
}

Lists checked(const Communicator& comm, std::span<const NeighborCells> given) {
  Lists lists;
  for (const NeighborCells& each : given) {
    if (each.rank < 0 || each.rank >= comm.size())
      refuse("rank ", each.rank,
          " is a neighbor in a list and does not exist: use ranks from 0 to ", comm.size() - 1);
    if (!lists.emplace(each.rank, each.cells).second)
      refuse("there are two lists for rank ", each.rank, ": give one for each neighbor");
    for (const local_index cell : each.cells)
      if (cell < 0)
        refuse("the list for rank ", each.rank, " has cell ", cell,
            ": cells have numbers of 0 or more");
  }
  std::erase_if(lists, [](const auto& each) { return each.second.empty(); });
  return lists;
}

// Reads the lists with `check`. Collective.
void agree_on_kind(const Communicator& comm, bool received, const std::function<void()>& check) {
  require_equal(
      comm, "neighbor lists",
      [=](Properties& told) { told.add("whether cells to receive are listed", received); },
      "list cells to receive on every rank or on none", check);
}

void require_once(const Lists& lists, const std::string& what) {
  for (const auto& [rank, cells] : lists) {
    std::vector<local_index> sorted = cells;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      refuse("the list for rank ", rank, " has ", what, *twice, " twice: list it once");
  }
}

// One message per list, with a word per entry.
template <class Word>
std::vector<Message> messages(const Lists& lists, Word&& word) {
  std::vector<Message> all;
  for (const auto& [rank, cells] : lists) {
    std::vector<global_index> words;
    for (const local_index cell : cells) words.push_back(word(cell));
    all.push_back(message_of(words, rank));
  }
  return all;
}

// Of each pair of ranks. `come`: received words.
void require_equal_lists(const Communicator& comm, const Lists& mine,
    const std::vector<Message>& come, const std::string& sends, const std::string& receives) {
  std::map<int, std::size_t> theirs;
  for (const Message& message : come)
    theirs[message.rank] = message.bytes.size() / sizeof(global_index);
  for (const auto& [rank, cells] : mine) theirs.try_emplace(rank, 0);
  for (const auto& [rank, count] : theirs) {
    const auto own = mine.find(rank);
    const std::size_t here = own == mine.end() ? 0 : own->second.size();
    if (here != count)
      refuse(listed(rank, count), " ", sends, " rank ", comm.rank(), ", and ",
          listed(comm.rank(), here), " ", receives, " rank ", rank,
          ": make the two lists equal in length and order");
  }
}

// By local number.
using Ids = std::map<local_index, global_index>;

IndexMap map_of(const Communicator& comm, const Ids& ids, Places places, ExchangeOptions options) {
  std::vector<global_index> owned, ghosts;
  places.owned.clear(), places.ghosts.clear();
  for (const auto& [cell, id] : ids) {
    const bool own = id == id_of(comm.rank(), cell);
    (own ? owned : ghosts).push_back(id);
    (own ? places.owned : places.ghosts).push_back(cell);
  }
  return IndexMap(
      IndexedDomain::with_owned_ids(std::move(owned), std::move(ghosts), comm, SelfGhosts::allowed),
      std::move(options))
      .placed(std::move(places));
}

// Label propagation: each shared point takes its minimum id until no rank changes one.
void spread(const Communicator& comm, const Lists& shared, Ids& ids) {
  std::vector<int> ranks;
  for (const auto& [rank, points] : shared) ranks.push_back(rank);
  const auto id = [&](local_index point) { return ids.at(point); };
  std::vector<Message> come = sparse_exchange(comm, messages(shared, id));
  validate_together(
      comm, [&] { require_equal_lists(comm, shared, come, "points shared with", "with"); });
  for (;;) {
    std::int64_t changes = 0;
    for (const Message& message : come) {
      const auto theirs = message.values<global_index>();
      const std::vector<local_index>& points = shared.at(message.rank);
      for (std::size_t k = 0; k < points.size(); ++k)
        if (global_index& mine = ids.at(points[k]); theirs[k] < mine) mine = theirs[k], ++changes;
    }
    if (total(comm, {changes}).front() == 0) return;
    come = neighbor_exchange(comm, messages(shared, id), ranks);
  }
}

void require_different(const Ids& ids) {
  std::map<global_index, local_index> seen;
  for (const auto& [point, id] : ids)
    if (const auto [other, added] = seen.try_emplace(id, point); !added)
      refuse("by the lists, points ", other->second, " and ", point,
          " of this rank are both point ", id & 0xFFFFFFFF, " of rank ", owner_of(id),
          ": list shared points in the same order on both ranks; if a rank has a point twice, sum "
          "both first and list one");
}

}  // namespace

IndexMap IndexMap::from_neighbor_lists(std::span<const NeighborCells> given, Communicator comm,
    Places extents, ExchangeOptions options) {
  return collectively(comm, "from_neighbor_lists", setup_limit(options), [&]() -> IndexMap {
    Lists shared;
    agree_on_kind(comm, false, [&] {
      shared = checked(comm, given);
      require_once(shared, "point ");
      if (shared.contains(comm.rank()))
        refuse("rank ", comm.rank(),
            " lists points that it shares with itself: sum its own first, and list those of other "
            "ranks");
    });
    Ids ids;
    for (const auto& [rank, points] : shared)
      for (const local_index point : points) ids[point] = id_of(comm.rank(), point);
    spread(comm, shared, ids);
    validate_together(comm, [&] { require_different(ids); });
    return map_of(comm, ids, std::move(extents), std::move(options));
  });
}

IndexMap IndexMap::from_neighbor_lists(std::span<const NeighborCells> sent,
    std::span<const NeighborCells> received, Communicator comm, Places extents,
    ExchangeOptions options) {
  return collectively(comm, "from_neighbor_lists", setup_limit(options), [&]() -> IndexMap {
    Lists send, receive;
    agree_on_kind(
        comm, true, [&] { send = checked(comm, sent), receive = checked(comm, received); });
    const auto own_id = [&](local_index cell) { return id_of(comm.rank(), cell); };
    const auto come = sparse_exchange(comm, messages(send, own_id));
    Ids ids;
    validate_together(comm, [&] {
      require_equal_lists(comm, receive, come, "cells to send to", "to receive from");
      for (const auto& [rank, cells] : send)
        for (const local_index cell : cells) ids[cell] = own_id(cell);
      for (const Message& message : come) {
        const auto theirs = message.values<global_index>();
        const std::vector<local_index>& cells = receive.at(message.rank);
        for (std::size_t k = 0; k < cells.size(); ++k)
          if (!ids.try_emplace(cells[k], theirs[k]).second)
            refuse("cell ", cells[k], " is received from rank ", message.rank,
                " and is also received from another rank, or sent: list each received cell once, "
                "and do not send it");
      }
    });
    return map_of(comm, ids, std::move(extents), std::move(options));
  });
}

}  // namespace parhelion

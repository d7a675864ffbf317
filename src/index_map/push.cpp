#include "parhelion/index_map/index_map.hpp"

#include "core/concat.hpp"
#include "parhelion/index_map/migration.hpp"

namespace parhelion {
namespace {

void check_pushed(
    const IndexedDomain& owners, std::span<const local_index> cells, std::span<const int> ranks) {
  const int size = owners.communicator().size();
  if (cells.size() != ranks.size())
    refuse(cells.size(), " cells are pushed to ", ranks.size(),
        " ranks: name one rank for each cell, and a cell again for each further rank");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] < 0 || cells[i] >= owners.owned())
      refuse("pushed cell ", cells[i], " is not owned by rank ", owners.communicator().rank(),
          ": push cells from 0 to ", owners.owned() - 1, ", by their local numbers");
    if (ranks[i] < 0 || ranks[i] >= size)
      refuse("cell ", cells[i], " is pushed to rank ", ranks[i],
          ", which does not exist: use ranks from 0 to ", size - 1);
  }
}

// Global ids.
std::vector<global_index> pushed_here(
    const IndexedDomain& owners, std::span<const local_index> cells, std::span<const int> ranks) {
  std::vector<global_index> ids;
  for (const local_index cell : cells) ids.push_back(owners.global_of(cell));
  Migration push(owners.communicator());
  std::vector<global_index> ghosts(push.send(ranks, {ids}));
  push.receive({ghosts});
  return ghosts;
}

}  // namespace

IndexMap IndexMap::pull(global_index owned, std::vector<global_index> ghosts, Communicator comm) {
  return IndexMap(IndexedDomain(owned, std::move(ghosts), comm, SelfGhosts::allowed));
}

IndexMap IndexMap::push(global_index owned, std::span<const local_index> cells,
    std::span<const int> ranks, Communicator comm) {
  return push(IndexedDomain(owned, {}, comm), cells, ranks);
}

IndexMap IndexMap::push(
    const IndexedDomain& owners, std::span<const local_index> cells, std::span<const int> ranks) {
  return collectively(owners.communicator(), "push", [&]() -> IndexMap {
    validate_together(owners.communicator(), [&] { check_pushed(owners, cells, ranks); });
    return IndexMap(owners.with_ghosts(pushed_here(owners, cells, ranks), SelfGhosts::allowed));
  });
}

}  // namespace parhelion

#include <algorithm>

#include "objects.hpp"
#include "parhelion/domain/partition_files.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

void require_arrays(const void* given, const char* name, const void* results,
    const char* results_name, int64_t count) {
  require_array(results, count, results_name);
  require_array(given, count, name);
}

// Of all neighbors, one after the other.
std::vector<NeighborCells> lists_from(int64_t neighbors, const int32_t* ranks,
    const int64_t* counts, const char* counts_name, const int32_t* cells, const char* name) {
  require_array(ranks, neighbors, "ranks");
  require_array(counts, neighbors, counts_name);
  global_index all = 0;
  for (int64_t k = 0; k < neighbors; ++k) all += std::max<global_index>(counts[k], 0);
  require_array(cells, all, name);
  return neighbor_cells(
      {ranks, ranks + neighbors}, {counts, counts + neighbors}, {cells, cells + all});
}

void require_keys(
    const IndexMap& map, const PartitionKeys& read, int64_t capacity, const int64_t* keys) {
  const auto count = static_cast<int64_t>(read.keys.size());
  if (count != int64_t{map.owned()} * read.per_id)
    refuse("the part of this rank has keys for ", count / read.per_id, " ids and the map ",
        map.owned(), " owned ones: pass the file that the map was read from");
  if (keys != nullptr && capacity < count)
    refuse("keys has room for ", capacity, " numbers and there are ", count,
        ": make it larger; without it per_id alone is told");
}

CellValues values_from(phl_element element, const phl_cells& cells, const char* name) {
  const Element of = element_from(element);
  if (element.components < 0) refuse("a cell cannot have ", element.components, " components");
  require_array(cells.first, cells.count, name);
  CellValues values{{static_cast<std::byte*>(cells.first), cells.stride}, {}, of,
      std::max(element.components, 1)};
  if (cells.stride == 0) values.owned.stride = values.width();
  return values;
}

// An array without places.
CellValues plain_values(const phl_values& given) {
  CellValues values = values_from(given.element, given.owned, "owned");
  const int64_t stride = given.component_stride;
  if ((stride != 0 && stride != values.element.size) || given.extents[0] != 0)
    refuse(
        "component_stride and extents are for maps with places: leave them 0, and pass "
        "contiguous components");
  return values;
}

std::vector<CellValues> rows_from(const phl_values* given, int count) {
  require_array(given, count, "arrays");
  std::vector<CellValues> arrays;
  for (int i = 0; i < count; ++i) {
    arrays.push_back(plain_values(given[i]));
    arrays.back().elements = given[i].owned.count * arrays.back().components;
  }
  return arrays;
}

void require_cells(int64_t given, int64_t needed, const char* name) {
  if (given != needed)
    refuse(name, " has ", given, " cells and the map needs ", needed,
        ": pass an array of that many cells");
}

// Ghosts are separate, appended or placed.
CellValues values_from(const IndexMap& map, const phl_values& given) {
  if (map.places()) {
    CellValues values = values_from(given.element, given.owned, "owned");
    if (given.ghosts.first != nullptr)
      refuse("the map has places, also for ghosts: leave `ghosts` NULL");
    values.component_stride = given.component_stride;
    values.elements = given.owned.count * values.components;
    for (std::size_t d = 0; d < values.axes.size(); ++d) {
      if (given.extents[d] < 0)
        refuse("extents[", d, "] is ", given.extents[d], ": pass 0 or more");
      values.axes[d] = {given.extents[d], given.strides[d]};
    }
    if (given.extents[0] > 0) values.elements = CellValues::untold;
    return values;
  }
  CellValues values = plain_values(given);
  if (given.ghosts.first == nullptr && given.owned.count != map.owned()) {
    require_cells(given.owned.count, map.size(), "the array of owned cells and ghosts");
  } else {
    require_cells(given.owned.count, map.owned(), "the array of owned cells");
    require_cells(given.ghosts.count, map.ghosts(), "the array of ghosts");
    values.ghosts = values_from(given.element, given.ghosts, "ghosts").owned;
  }
  return values;
}

CellValues mask_from(const IndexMap& map, const phl_values* mask) {
  require_array(mask, 1, "mask");
  return values_from(map, *mask);
}

template <class Call, class... Reductions>
int run(phl_index_map map, Call call, const phl_values* given, int count, Reductions... reduction) {
  return with(map, [&](auto& object) {
    require_array(given, count, "arrays");
    object.arrays.clear();
    for (int i = 0; i < count; ++i) object.arrays.push_back(values_from(object.map, given[i]));
    (object.map.*call)(object.arrays, reduction_from(reduction)...);
  });
}

int transfer(phl_index_map map, const char* call, bool to_root, int root, phl_element element,
    const phl_cells& all, const phl_cells& owned) {
  return c::transfer(map, call, to_root, root, [&](const IndexMap& m) {
    require_cells(owned.count, m.owned(), "the array of owned cells");
    const CellValues mine = values_from(element, owned, "owned");
    if (m.communicator().rank() != root) return Transfer{mine, mine};
    return Transfer{mine, values_from(element, all, "all"), all.count};
  });
}

}  // namespace

namespace parhelion::c {

std::vector<NeighborCells> neighbor_cells(std::span<const int> ranks,
    std::span<const global_index> counts, std::span<const local_index> cells) {
  if (counts.size() != ranks.size())
    refuse(counts.size(), " lists were passed for ", ranks.size(), " neighbors: give one for each");
  std::vector<NeighborCells> all;
  auto next = cells.begin();
  for (std::size_t k = 0; k < ranks.size(); next += counts[k++]) {
    if (counts[k] < 0 || counts[k] > cells.end() - next)
      refuse("the list for rank ", ranks[k], " has ", counts[k], " cells and ", cells.end() - next,
          " are left: pass the lists one after the other");
    all.push_back({ranks[k], {next, next + counts[k]}});
  }
  if (next != cells.end())
    refuse(cells.end() - next,
        " cells belong to the list of no neighbor: pass as many as the lists have");
  return all;
}

Ids ids_of(const IndexMap& map, std::span<const local_index> cells) {
  Ids ids;
  for (const local_index cell : cells) ids.push_back(map.domain().global_of(cell));
  return ids;
}

const Places& placed(const IndexMap& map) {
  if (map.places()) return *map.places();
  refuse("the map has no places: its arrays have owned cells, then ghosts");
}

}  // namespace parhelion::c

extern "C" {

int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  return make_map(
      comm, "phl_index_map_create", options, map,
      [&] { require_array(ghost_ids, ghosts, "ghost_ids"); },
      [&](const Communicator& own) {
        return IndexedDomain(owned, {ghost_ids, ghost_ids + ghosts}, own, SelfGhosts::allowed);
      });
}

int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
    int64_t ghosts, const int64_t* ghost_ids, int self_ghosts, const phl_exchange_options* options,
    phl_index_map* map) {
  return make_map(
      comm, "phl_index_map_create_with_ids", options, map,
      [&] {
        require_array(owned_ids, owned, "owned_ids");
        require_array(ghost_ids, ghosts, "ghost_ids");
      },
      [&](const Communicator& own) {
        return IndexedDomain::with_owned_ids({owned_ids, owned_ids + owned},
            {ghost_ids, ghost_ids + ghosts}, own,
            self_ghosts != 0 ? SelfGhosts::allowed : SelfGhosts::refused);
      });
}

int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
    const int64_t* ghost_counts, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  RootLists lists;  // empty on other ranks
  const auto check = [&](const Communicator& own) {
    if (own.rank() != root) return;
    if (ranks != own.size())  // before the lists are read
      refuse("the root lists counts of ", ranks, " ranks and the communicator has ", own.size(),
          ": give one entry per rank");
    require_array(owned, ranks, "owned");
    require_array(ghost_counts, ranks, "ghost_counts");
    require_array(ghost_ids, ghosts, "ghost_ids");
    lists = {{owned, owned + ranks}, {ghost_counts, ghost_counts + ranks},
        {ghost_ids, ghost_ids + ghosts}};
  };
  return make_map(comm, "phl_index_map_create_from_root", options, map, check,
      [&](const Communicator& own) { return domain_from_root(lists, root, own); });
}

int phl_index_map_read(
    MPI_Comm comm, const char* path, const phl_exchange_options* options, phl_index_map* map) {
  return make_map(
      comm, "phl_index_map_read", options, map, [&] { require_output(path, "path"); },
      [&](const Communicator& own) {
        PartitionPart part = read_partition(path, own);
        return IndexedDomain(part.owned, std::move(part.ghosts), own);
      });
}

int phl_index_map_read_keys(
    phl_index_map map, const char* path, int32_t* per_id, int64_t capacity, int64_t* keys) {
  return with(map, [&](const auto& object) {
    const IndexMap& of = object.map;
    collective(
        of.communicator(), "phl_index_map_read_keys", setup_limit(object.options),
        [&] { require_output(path, "path"); },
        [&] {
          const PartitionKeys read = read_partition_keys(path, of.communicator());
          validate_together(of.communicator(), [&] { require_keys(of, read, capacity, keys); });
          put(per_id, read.per_id);
          put_all(keys, read.keys);
        });
  });
}

int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
    const int32_t* ranks, phl_index_map* map) {
  return derive_map(
      owners, "phl_index_map_create_push", map,
      [&] {
        require_array(cells, count, "cells");
        require_array(ranks, count, "ranks");
      },
      [&](const IndexMap& of) {
        return IndexMap::push(of.domain(), {cells, cells + count}, {ranks, ranks + count}).domain();
      });
}

int phl_index_map_create_from_neighbors(MPI_Comm comm, int64_t neighbors, const int32_t* ranks,
    const int64_t* counts, const int32_t* cells, const int64_t* received_counts,
    const int32_t* received, const phl_exchange_options* options, phl_index_map* map) {
  std::vector<NeighborCells> first, second;
  const auto check = [&] {
    first = lists_from(neighbors, ranks, counts, "counts", cells, "cells");
    if (received_counts != nullptr)
      second =
          lists_from(neighbors, ranks, received_counts, "received_counts", received, "received");
  };
  return make_map(comm, "phl_index_map_create_from_neighbors", options, map, check,
      [&](const Communicator& own) {
        const ExchangeOptions with = options_from(options);
        return received_counts != nullptr
                   ? IndexMap::from_neighbor_lists(first, second, own, {}, with)
                   : IndexMap::from_neighbor_lists(first, own, {}, with);
      });
}

int phl_index_map_create_placed(phl_index_map of, int64_t owned, const int32_t* places,
    int64_t ghosts, const int32_t* ghost_places, phl_index_map* map) {
  return derive_map(
      of, "phl_index_map_create_placed", map,
      [&] {
        require_array(places, owned, "places");
        require_array(ghost_places, ghosts, "ghost_places");
      },
      [&](const IndexMap& cells) {
        return cells.placed({{places, places + owned}, {ghost_places, ghost_places + ghosts}});
      });
}

int phl_index_map_create_only(phl_index_map of, const phl_values* mask, phl_index_map* subset) {
  return derive_map(
      of, "a subset of an index map", subset, [] {},
      [&](const IndexMap& map) { return map.only([&] { return mask_from(map, mask); }); });
}
int phl_index_map_update(phl_index_map subset, const phl_values* mask) {
  return with(subset,
      [&](const auto& object) { object.map.update([&] { return mask_from(object.map, mask); }); });
}

int phl_index_map_create_ragged(
    phl_index_map rows, int64_t owned_rows, const int64_t* counts, phl_index_map* map) {
  return derive_map(
      rows, "phl_index_map_create_ragged", map,
      [&] { require_array(counts, owned_rows, "counts"); },
      [&](const IndexMap& of) { return ragged_domain(of, {counts, counts + owned_rows}); });
}

int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids) {
  return with(map, [&](auto& object) {
    change_map(
        object, "phl_index_map_add_ghosts", [&] { require_array(ids, count, "ids"); },
        [&](const IndexedDomain& domain) { return with_added_ghosts(domain, {ids, ids + count}); });
  });
}

int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return with(map, [&](auto& object) {
    const auto found = localize_ids(object, "phl_index_map_localize", [&] {
      require_arrays(ids, "ids", cells, "cells", count);
      return Ids(ids, ids + count);
    });
    std::ranges::copy(found, cells);
  });
}

int phl_index_map_free(phl_index_map* map) { return free_handle(map); }

int phl_index_map_sizes(
    phl_index_map map, int32_t* owned, int32_t* ghosts, int64_t* global, int64_t* first) {
  return with(map, [&](auto& object) {
    const IndexedDomain& domain = object.domain();
    put(owned, domain.owned());
    put(ghosts, domain.ghosts());
    put(global, domain.global_size());
    put(first, domain.first());
  });
}

int phl_index_map_ghosts(phl_index_map map, int64_t* ids, int32_t* owners) {
  return with(map, [&](auto& object) {
    const IndexedDomain& domain = object.domain();
    put_all(ids, domain.ghost_ids());
    put_all(owners, domain.ghost_owners());
  });
}

int phl_index_map_places(phl_index_map map, int32_t* owned, int32_t* ghosts) {
  return with(map, [&](const auto& object) {
    const Places& places = placed(object.map);
    put_all(owned, places.owned);
    put_all(ghosts, places.ghosts);
  });
}

int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks) {
  return guarded([&] {
    const auto all = neighbor_ranks(get(map)->map.pattern());
    put(count, static_cast<int32_t>(all.size()));
    if (ranks != nullptr && capacity > 0)
      std::copy_n(all.begin(),
          std::min<std::size_t>(all.size(), static_cast<std::size_t>(capacity)), ranks);
  });
}

int phl_index_map_traffic(phl_index_map map, int64_t* cells_sent_, int64_t* cells_received) {
  return with(map, [&](auto& object) {
    int64_t received = 0;
    for (const Stage& stage : object.map.pattern().stages)
      for (const Link& link : stage)
        if (link.rank != object.map.communicator().rank()) received += link.receive_unique;
    put(cells_sent_, cells_sent(object.map.pattern()));
    put(cells_received, received);
  });
}

int phl_index_map_to_global(phl_index_map map, int64_t count, const int32_t* cells, int64_t* ids) {
  return with(map, [&](const auto& object) {
    require_arrays(cells, "cells", ids, "ids", count);
    std::ranges::copy(ids_of(object.map, {cells, cells + count}), ids);
  });
}

int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return with(map, [&](const auto& object) {
    require_arrays(ids, "ids", cells, "cells", count);
    object.domain().local_of({ids, ids + count}, {cells, cells + count});
  });
}

int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks) {
  return with(map, [&](const auto& object) {
    const auto check = [&] { require_arrays(ids, "ids", ranks, "ranks", count); };
    const auto owners =
        collective(object.communicator(), "phl_index_map_owners", setup_limit(object.options),
            check, [&] { return object.domain().owners_of({ids, ids + count}); });
    std::ranges::copy(owners, ranks);
  });
}

#define PHL_MAP_CALL(name) \
  int phl_map_##name(phl_index_map map, const phl_values* arrays, int count) { \
    return run(map, &IndexMap::name, arrays, count); \
  }
#define PHL_MAP_REDUCTION(name) \
  int phl_map_##name(phl_index_map map, int reduction, const phl_values* arrays, int count) { \
    return run(map, &IndexMap::name, arrays, count, reduction); \
  }
PHL_MAP_CALL(prepare)
PHL_MAP_CALL(prepare_shared)
PHL_MAP_CALL(forward)
PHL_MAP_CALL(begin_forward)
PHL_MAP_REDUCTION(reverse)
PHL_MAP_REDUCTION(begin_reverse)
PHL_MAP_REDUCTION(reduce_shared)
PHL_MAP_REDUCTION(begin_reduce_shared)
PHL_MAP_CALL(end)

int phl_distribute(
    phl_index_map map, int root, phl_element element, phl_cells all, phl_cells owned) {
  return transfer(map, "phl_distribute", false, root, element, all, owned);
}
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all) {
  return transfer(map, "phl_collate", true, root, element, all, owned);
}

int phl_migration_create(MPI_Comm comm, phl_migration* migration) {
  return guarded([&] {
    create(
        Communicator(comm), "phl_migration_create", 0, migration, [] {},
        [&] { return MigrationObject{Migration(comm)}; });
  });
}
int phl_migration_send(phl_migration migration, int64_t rows, const int32_t* ranks,
    const phl_values* arrays, int count, int64_t* received) {
  return with(migration, [&](auto& object) {
    std::vector<CellValues> sent;
    const auto check = [&] {
      require_array(ranks, rows, "ranks");
      sent = rows_from(arrays, count);
    };
    put(received, collective(object.communicator(), "a migration", 0, check,
                      [&] { return object.migration.send({ranks, ranks + rows}, sent); }));
  });
}
int phl_migration_receive(
    phl_migration migration, const phl_values* arrays, int count, int32_t* sources) {
  return with(migration, [&](const auto& object) {
    object.migration.receive(rows_from(arrays, count));
    put_all(sources, object.migration.sources());
  });
}
int phl_migration_free(phl_migration* migration) { return free_handle(migration); }

}  // extern "C"

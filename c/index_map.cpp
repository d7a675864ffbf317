#include <ranges>

#include "objects.hpp"
#include "parhelion/domain/partition_files.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

// Of all neighbors, one after the other.
std::vector<NeighborCells> lists_from(const List<int>& ranks, const int64_t* counts,
    const char* counts_name, const int32_t* cells, const char* name) {
  std::vector<NeighborCells> all;
  for (const int64_t count : List(counts, std::ssize(ranks), counts_name)) {
    all.push_back({ranks[all.size()], List(cells, count, name)});
    cells += count;
  }
  return all;
}

CellArray cells_from(const phl_cells& cells, byte_count width, const char* name) {
  require_array(cells.first, cells.count, name);
  return {static_cast<std::byte*>(cells.first), cells.stride ? cells.stride : width};
}

// Owned cells; of a map with places, all.
CellValues values_from(const phl_values& given, bool placed = false) {
  const int components = given.element.components;
  if (components < 0) refuse("a cell cannot have ", components, " components");
  CellValues values({}, {}, element_from(given.element), std::max(components, 1));
  values.owned = cells_from(given.owned, values.width(), "owned");
  values.elements = given.owned.count * values.components;
  values.component_stride = given.component_stride;
  for (std::size_t d = 0; d < values.axes.size(); ++d) {
    values.axes[d] = {given.extents[d], given.strides[d]};
    if (given.extents[d] < 0) refuse("extents[", d, "] is ", given.extents[d], ": pass 0 or more");
  }
  if (!placed && (!values.is_joined() || given.extents[0] != 0))
    refuse(
        "component_stride and extents are for maps with places: leave them 0, and pass "
        "contiguous components");
  return values;
}

std::vector<CellValues> rows_from(const phl_values* given, int count) {
  std::vector<CellValues> arrays;
  for (const phl_values& each : List(given, count, "arrays")) arrays.push_back(values_from(each));
  return arrays;
}

void require_cells(int64_t given, int64_t needed, const char* name) {
  if (given != needed)
    refuse(name, " has ", given, " cells, but the map needs ", needed,
        ": pass an array of that many cells");
}

// Ghosts are separate, appended or placed.
CellValues values_from(const IndexMap& map, const phl_values& given) {
  CellValues values = values_from(given, map.places().has_value());
  if (map.places()) {
    values.ghosts.first = static_cast<std::byte*>(given.ghosts.first);  // which is refused
    if (given.extents[0] > 0) values.elements = CellValues::untold;
  } else if (!given.ghosts.first && given.owned.count != map.owned()) {
    require_cells(given.owned.count, map.size(), "the array of owned cells and ghosts");
  } else {
    require_cells(given.owned.count, map.owned(), "the array of owned cells");
    require_cells(given.ghosts.count, map.ghosts(), "the array of ghosts");
    values.ghosts = cells_from(given.ghosts, values.width(), "ghosts");
    values.elements = CellValues::untold;
  }
  return values;
}

template <class Call, class... Reductions>
int run(phl_index_map map, Call call, const phl_values* given, int count, Reductions... reduction) {
  return with(map, [&](auto& object) {
    object.arrays.clear();
    for (const phl_values& each : List(given, count, "arrays"))
      object.arrays.push_back(values_from(object, each));
    (object.*call)(object.arrays, reduction_from(reduction)...);
  });
}

int transfer(phl_index_map map, const char* call, decltype(&collate) run, int root,
    phl_element element, const phl_cells& all, const phl_cells& owned) {
  return with(map, [&](auto& object) {
    on_all(object, call, [&] {
      refuse_places(object.places());
      require_cells(owned.count, object.owned(), "the array of owned cells");
      const CellValues mine = values_from({element, owned, {}, 0, {}, {}});
      CellArray whole;
      if (object.communicator().rank() == root) whole = cells_from(all, mine.width(), "all");
      run(object.domain(), root, whole, all.count, mine.owned, mine.width());
    });
  });
}

}  // namespace

namespace parhelion::c {

const Places& placed(const IndexMap& map) {
  if (map.places()) return *map.places();
  refuse("the map has no places: its arrays have owned cells, then ghosts");
}

}  // namespace parhelion::c

extern "C" {

int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  return make_map(comm, __func__, options, map, [&](const Communicator& own) {
    return IndexedDomain(owned, List(ghost_ids, ghosts, "ghost_ids"), own, SelfGhosts::allowed);
  });
}

int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
    int64_t ghosts, const int64_t* ghost_ids, int self_ghosts, const phl_exchange_options* options,
    phl_index_map* map) {
  return make_map(comm, __func__, options, map, [&](const Communicator& own) {
    const std::vector<global_index> ids = List(ghost_ids, ghosts, "ghost_ids");
    if (owned == -1) return localize(ids, own).nodes;
    return IndexedDomain::with_owned_ids(
        List(owned_ids, owned, "owned_ids"), ids, own, SelfGhosts(self_ghosts != 0));
  });
}

int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
    const int64_t* ghost_counts, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  return make_map(comm, __func__, options, map, [&](const Communicator& own) {
    RootLists lists;  // empty on other ranks
    if (own.rank() == root)
      lists = {List(owned, ranks, "owned"), List(ghost_counts, ranks, "ghost_counts"),
          List(ghost_ids, ghosts, "ghost_ids")};
    return domain_from_root(lists, root, own);
  });
}

int phl_index_map_read(
    MPI_Comm comm, const char* path, const phl_exchange_options* options, phl_index_map* map) {
  return make_map(comm, __func__, options, map, [&](const Communicator& own) {
    require_output(path, "path");
    PartitionPart part = read_partition(path, own);
    return IndexedDomain(part.owned, std::move(part.ghosts), own);
  });
}

int phl_index_map_read_keys(
    phl_index_map map, const char* path, int32_t* per_id, int64_t capacity, int64_t* keys) {
  return with(map, [&](auto& object) {
    const PartitionKeys read = on_all(object, "phl_index_map_read_keys", [&] {
      require_output(path, "path");
      auto found = read_partition_keys(path, object.communicator());
      const int64_t count = found.keys.size(), ids = count / found.per_id;
      if (ids != object.owned())
        refuse("this rank has keys for ", ids, " ids, but the map owns ", object.owned(),
            ": pass the file that the map was read from");
      if (keys && capacity < count)
        refuse(
            "keys has room for ", capacity, " numbers and there are ", count, ": make it larger");
      return found;
    });
    put(per_id, read.per_id);
    put_all(keys, read.keys);
  });
}

int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
    const int32_t* ranks, phl_index_map* map) {
  return derive_map(owners, __func__, map, [&](const IndexMap& of) {
    return IndexMap::push(of.domain(), List(cells, count, "cells"), List(ranks, count, "ranks"))
        .domain();
  });
}

int phl_index_map_create_from_neighbors(MPI_Comm comm, int64_t neighbors, const int32_t* ranks,
    const int64_t* counts, const int32_t* cells, const int64_t* received_counts,
    const int32_t* received, const phl_exchange_options* options, phl_index_map* map) {
  return make_map(comm, __func__, options, map, [&](const Communicator& own) {
    const List all(ranks, neighbors, "ranks");
    const auto first = lists_from(all, counts, "counts", cells, "cells");
    const ExchangeOptions with = options_from(options);
    if (!received_counts) return IndexMap::from_neighbor_lists(first, own, {}, with);
    return IndexMap::from_neighbor_lists(first,
        lists_from(all, received_counts, "received_counts", received, "received"), own, {}, with);
  });
}

int phl_index_map_create_placed(phl_index_map of, int64_t owned, const int32_t* places,
    int64_t ghosts, const int32_t* ghost_places, phl_index_map* map) {
  return derive_map(of, __func__, map, [&](const IndexMap& cells) {
    return cells.placed(
        {List(places, owned, "places"), List(ghost_places, ghosts, "ghost_places")});
  });
}

int phl_index_map_create_only(phl_index_map of, const phl_values* mask, phl_index_map* subset) {
  return derive_map(of, __func__, subset, [&](const IndexMap& map) {
    return map.only([&] { return values_from(map, List(mask, 1, "mask").front()); });
  });
}
int phl_index_map_update(phl_index_map subset, const phl_values* mask) {
  return with(subset, [&](auto& object) {
    object.update([&] { return values_from(object, List(mask, 1, "mask").front()); });
  });
}

int phl_index_map_create_ragged(
    phl_index_map rows, int64_t owned_rows, const int64_t* counts, phl_index_map* map) {
  return derive_map(rows, __func__, map,
      [&](const IndexMap& of) { return ragged_domain(of, List(counts, owned_rows, "counts")); });
}

int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids) {
  return with(map, [&](auto& object) {
    localize_ids(object, "phl_index_map_add_ghosts", [&] {
      const List all(ids, count, "ids");
      for (const int64_t id : all)
        if (id < 0) refuse("id ", id, " is outside of the map: ids start at 0");
      return all;
    });
  });
}

int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return with(map, [&](auto& object) {
    put_all(cells,
        localize_ids(object, "phl_index_map_localize", [&] { return List(ids, count, "ids"); }));
  });
}

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
  return with(map, [&](auto& object) {
    const Places& places = placed(object);
    put_all(owned, places.owned);
    put_all(ghosts, places.ghosts);
  });
}

int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks) {
  return with(map, [&](auto& object) {
    const auto all = neighbor_ranks(object.pattern());
    put(count, all.size());
    put_all(ranks, all | std::views::take(std::max(capacity, 0)));
  });
}

int phl_index_map_traffic(phl_index_map map, int64_t* sent, int64_t* received) {
  return with(map, [&](auto& object) {
    int64_t all = 0;
    for (const Stage& stage : object.pattern().stages)
      for (const Link& link : stage)
        if (link.rank != object.communicator().rank()) all += link.receive_unique;
    put(sent, cells_sent(object.pattern()));
    put(received, all);
  });
}

int phl_index_map_to_global(phl_index_map map, int64_t count, const int32_t* cells, int64_t* ids) {
  return with(map, [&](auto& object) {
    require_array(ids, count, "ids");
    for (const int32_t cell : List(cells, count, "cells")) *ids++ = object.domain().global_of(cell);
  });
}

int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return with(map, [&](auto& object) {
    require_array(cells, count, "cells");
    const List all(ids, count, "ids");
    object.domain().local_of(all, {cells, all.size()});
  });
}

int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks) {
  return with(map, [&](auto& object) {
    const auto find = [&] { return object.domain().owners_of(List(ids, count, "ids")); };
    put_all(ranks, on_all(object, "phl_index_map_owners", find));
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
  return transfer(map, __func__, &distribute, root, element, all, owned);
}
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all) {
  return transfer(map, __func__, &collate, root, element, all, owned);
}

int phl_migration_create(MPI_Comm comm, phl_migration* migration) {
  return create_on(comm, __func__, migration,
      [](const Communicator& own) { return MigrationObject{Migration(own)}; });
}
int phl_migration_send(phl_migration migration, int64_t rows, const int32_t* ranks,
    const phl_values* arrays, int count, int64_t* received) {
  return with(migration, [&](auto& object) {
    const Communicator& comm = object.communicator();
    put(received, collectively(comm, "a migration", [&] {
      std::vector<CellValues> sent;
      validate_together(comm, [&] {
        require_array(ranks, rows, "ranks");
        sent = rows_from(arrays, count);
      });
      return object.send(List(ranks, rows, "ranks"), sent);
    }));
  });
}
int phl_migration_receive(
    phl_migration migration, const phl_values* arrays, int count, int32_t* sources) {
  return with(migration, [&](auto& object) {
    object.receive(rows_from(arrays, count));
    put_all(sources, object.sources());
  });
}
}  // extern "C"

// Index maps: creation, queries, and exchanges of the arrays of each call.
#include <algorithm>
#include <limits>

#include "objects.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/localize.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

template <class From>
List list(const From* values, int64_t count, const char* name) {
  return [=](const Communicator&) {
    require_array(values, count, name);
    return std::vector<global_index>(values, values + count);
  };
}

// The list; throws Error if the results' array is null.
List with_room(const List& list, const void* room, int64_t count, const char* name) {
  return [=](const Communicator& comm) {
    require_array(room, count, name);
    return list(comm);
  };
}

template <class To>
Put to(To* place) {
  return [=](const std::vector<global_index>& values) {
    std::transform(values.begin(), values.end(), place,
        [](global_index value) { return static_cast<To>(value); });
  };
}

// Clamps values that do not fit to invalid cells or ranks.
std::vector<int> narrow(const std::vector<global_index>& values) {
  std::vector<int> narrowed;
  for (const global_index value : values)
    narrowed.push_back(
        static_cast<int>(std::clamp<global_index>(value, -1, std::numeric_limits<int>::max())));
  return narrowed;
}

// Splits concatenated lists by neighbor.
std::vector<NeighborCells> neighbor_cells(const std::vector<int>& ranks,
    const std::vector<global_index>& counts, const std::vector<int>& cells) {
  if (counts.size() != ranks.size())
    throw Error(std::to_string(counts.size()) + " lists were passed for " +
                std::to_string(ranks.size()) + " neighbors: give one for each");
  std::vector<NeighborCells> all;
  auto next = cells.begin();
  for (std::size_t k = 0; k < ranks.size(); next += counts[k++]) {
    if (counts[k] < 0 || counts[k] > cells.end() - next)
      throw Error("the list for rank " + std::to_string(ranks[k]) + " has " +
                  std::to_string(counts[k]) + " cells and " + std::to_string(cells.end() - next) +
                  " are left: pass the lists one after the other");
    all.push_back({ranks[k], {next, next + counts[k]}});
  }
  if (next != cells.end())
    throw Error(std::to_string(cells.end() - next) +
                " cells belong to the list of no neighbor: pass as many as the lists have");
  return all;
}

// A list as long as all neighbors' lists together.
List in_lists(const int32_t* cells, const int64_t* counts, int64_t neighbors, const char* name) {
  return [=](const Communicator& comm) {
    global_index all = 0;
    for (const global_index count : list(counts, neighbors, "counts")(comm))
      all += std::max<global_index>(count, 0);
    return list(cells, all, name)(comm);
  };
}

Lists read_lists(const std::vector<List>& lists, const Communicator& comm) {
  Lists all;
  for (const List& each : lists) all.push_back(each(comm));
  return all;
}

template <class T>
void put(T* place, T value) {
  if (place != nullptr) *place = value;
}

void require_keys(
    const IndexMap& map, const PartitionKeys& read, int64_t capacity, const int64_t* keys) {
  const auto count = static_cast<int64_t>(read.keys.size());
  if (count != int64_t{map.owned()} * read.per_id)
    throw Error("the part of this rank has keys for " + std::to_string(count / read.per_id) +
                " ids and the map " + std::to_string(map.owned()) +
                " owned ones: pass the file that the map was read from");
  if (keys != nullptr && capacity < count)
    throw Error("keys has room for " + std::to_string(capacity) + " numbers and there are " +
                std::to_string(count) + ": make it larger; without it per_id alone is told");
}

CellValues values_from(phl_element element, const phl_cells& cells, const char* name) {
  const Element of = element_from(element);
  if (element.components < 0)
    throw Error("a cell cannot have " + std::to_string(element.components) + " components");
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
    throw Error(
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
    throw Error(std::string(name) + " has " + std::to_string(given) + " cells and the map needs " +
                std::to_string(needed) + ": pass an array of that many cells");
}

// Cells of a map's array, whose ghosts are separate, appended or placed.
CellValues values_from(const IndexMap& map, const phl_values& given) {
  if (map.places()) {
    CellValues values = values_from(given.element, given.owned, "owned");
    if (given.ghosts.first != nullptr)
      throw Error("the map has places, also for ghosts: leave `ghosts` NULL");
    values.component_stride = given.component_stride;
    values.elements = given.owned.count * values.components;
    for (std::size_t d = 0; d < values.axes.size(); ++d) {
      if (given.extents[d] < 0)
        throw Error("extents[" + std::to_string(d) + "] is " + std::to_string(given.extents[d]) +
                    ": pass 0 or more");
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

ReadMask mask_in(const phl_values* mask) {
  return [=](const IndexMap& map) {
    require_array(mask, 1, "mask");
    return values_from(map, *mask);
  };
}

int run(phl_index_map map, MapCall call, Phase phase, int reduction, const phl_values* given,
    int count) {
  return with(map, [&](auto& object) {
    require_array(given, count, "arrays");
    object.arrays.clear();
    for (int i = 0; i < count; ++i) object.arrays.push_back(values_from(object.map, given[i]));
    c::run(object.map, call, phase, reduction, object.arrays);
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

// Replaces the map's domain by the result of `make`, then calls `done`. Throws Error during an
// exchange.
template <class Make, class Done>
int change_map(phl_index_map map, const char* call, const List& ids, Make&& make, Done&& done) {
  return with(map, [&](auto& object) {
    std::vector<global_index> given;
    const auto read = [&] {
      given = ids(object.communicator());
      refuse_places(object.map.places());
      object.map.refuse_subset();
      if (object.map.under_way())
        throw Error(
            "an exchange of the map is under way: end it before the map gets further "
            "ghosts");
    };
    object.map = collective(object.communicator(), call, setup_limit(object.options), read,
        [&] { return IndexMap(make(object.domain(), given), object.options); });
    done();
  });
}

}  // namespace

namespace parhelion::c {

List on_root(int root, const List& list) {
  return [=](const Communicator& comm) {
    return comm.rank() == root ? list(comm) : std::vector<global_index>();
  };
}

MakeCells blocks(int64_t owned) {
  return [=](Lists lists, const Communicator& comm, const ExchangeOptions& options) {
    return IndexMap(IndexedDomain(owned, std::move(lists[0]), comm, SelfGhosts::allowed), options);
  };
}
MakeCells with_ids(bool self_ghosts) {
  return [=](Lists lists, const Communicator& comm, const ExchangeOptions& options) {
    return IndexMap(IndexedDomain::with_owned_ids(std::move(lists[0]), std::move(lists[1]), comm,
                        self_ghosts ? SelfGhosts::allowed : SelfGhosts::refused),
        options);
  };
}
MakeCells from_root(int root) {
  return [=](const Lists& lists, const Communicator& comm, const ExchangeOptions& options) {
    return IndexMap(domain_from_root({lists[0], lists[1], lists[2]}, root, comm), options);
  };
}
MakeCells from_neighbors(bool both, const Places& extents) {
  return [=](const Lists& lists, const Communicator& comm, const ExchangeOptions& options) {
    const std::vector<int> ranks = narrow(lists[0]);
    std::vector<NeighborCells> first, received;
    validate_together(comm, [&] {
      first = neighbor_cells(ranks, lists[1], narrow(lists[2]));
      if (both) received = neighbor_cells(ranks, lists[3], narrow(lists[4]));
    });
    return both ? IndexMap::from_neighbor_lists(first, received, comm, extents, options)
                : IndexMap::from_neighbor_lists(first, comm, extents, options);
  };
}
IndexMap pushed(Lists lists, const IndexMap& owners, const ExchangeOptions& options) {
  return IndexMap(
      IndexMap::push(owners.domain(), narrow(lists[0]), narrow(lists[1])).domain(), options);
}
IndexMap ragged(Lists lists, const IndexMap& rows, const ExchangeOptions& options) {
  return IndexMap(ragged_domain(rows, lists[0]), options);
}
const Places& placed(const IndexMap& map) {
  if (map.places()) return *map.places();
  throw Error("the map has no places: its arrays have owned cells, then ghosts");
}
DeriveCells with_places(const Places& extents) {
  return [=](const Lists& lists, const IndexMap& map, const ExchangeOptions&) {
    return map.placed({narrow(lists[0]), narrow(lists[1]), extents.extents, extents.components_at});
  };
}

int make_map(MPI_Comm handle, const char* call, const std::vector<List>& lists,
    const MakeCells& make, const phl_exchange_options* options, phl_index_map* map) {
  return guarded([&] {
    const Communicator comm(handle);
    Lists given;
    create(
        comm, call, limit_of(options), map, [&] { given = read_lists(lists, comm); },
        [&] {
          IndexMap made(make(std::move(given), comm, options_from(options)));
          return IndexMapObject{std::move(made), options_from(options)};
        });
  });
}

int derive_map(phl_index_map from, const char* call, const std::vector<List>& lists,
    const DeriveCells& make, phl_index_map* map) {
  return with(from, [&](const auto& base) {
    Lists given;
    create(
        base.communicator(), call, setup_limit(base.options), map,
        [&] { given = read_lists(lists, base.communicator()); },
        [&] {
          IndexMap made(make(std::move(given), base.map, base.options));
          return IndexMapObject{std::move(made), base.options};
        });
  });
}

int make_subset(phl_index_map of, const ReadMask& read, phl_index_map* subset) {
  return with(of, [&](const auto& base) {
    create(
        base.communicator(), "a subset of an index map", setup_limit(base.options), subset, [] {},
        [&] {
          return IndexMapObject{base.map.only([&] { return read(base.map); }), base.options};
        });
  });
}

int update_subset(phl_index_map subset, const ReadMask& read) {
  return with(
      subset, [&](const auto& object) { object.map.update([&] { return read(object.map); }); });
}

int localize_ids(phl_index_map map, const char* call, const List& ids, const Put& cells) {
  std::vector<global_index> numbers;
  return change_map(
      map, call, ids,
      [&](const IndexedDomain& domain, const std::vector<global_index>& given) {
        auto [nodes, found] = localize(given, domain);
        numbers.assign(found.begin(), found.end());
        return std::move(nodes);
      },
      [&] { cells(numbers); });
}

int owners_of(phl_index_map map, const char* call, const List& ids, const Put& ranks) {
  return with(map, [&](const auto& object) {
    std::vector<global_index> given;
    const std::vector<int> owners = collective(
        object.communicator(), call, setup_limit(object.options),
        [&] { given = ids(object.communicator()); },
        [&] { return object.domain().owners_of(given); });
    ranks({owners.begin(), owners.end()});
  });
}

std::vector<global_index> ids_of(const IndexMap& map, const std::vector<global_index>& cells) {
  std::vector<global_index> ids;
  for (const int cell : narrow(cells)) ids.push_back(map.domain().global_of(cell));
  return ids;
}

std::vector<global_index> cells_of(const IndexMap& map, const std::vector<global_index>& ids) {
  std::vector<local_index> cells(ids.size());
  map.domain().local_of(ids, cells);
  return {cells.begin(), cells.end()};
}

void run(const IndexMap& map, MapCall call, Phase phase, int reduction, const CellArrays& arrays) {
  if (phase == Phase::prepare)
    return (map.*(call == MapCall::reduce_shared ? &IndexMap::prepare_shared : &IndexMap::prepare))(
        arrays);
  if (phase == Phase::end) return map.end(arrays);
  const bool whole = phase == Phase::whole;
  if (call == MapCall::forward)
    return (map.*(whole ? &IndexMap::forward : &IndexMap::begin_forward))(arrays);
  const auto combine = call == MapCall::reverse
                           ? whole ? &IndexMap::reverse : &IndexMap::begin_reverse
                       : whole ? &IndexMap::reduce_shared
                               : &IndexMap::begin_reduce_shared;
  (map.*combine)(arrays, reduction_from(reduction));
}

int transfer(phl_index_map map, const char* call, bool to_root, int root,
    const std::function<Transfer(const IndexMap&)>& read) {
  return with(map, [&](const auto& object) {
    std::optional<Transfer> given;
    const auto checked = [&] { refuse_places(object.map.places()), given = read(object.map); };
    collective(object.communicator(), call, setup_limit(object.options), checked, [&] {
      (to_root ? &collate : &distribute)(object.domain(), root, given->all.owned, given->cells,
          given->owned.owned, given->owned.width());
    });
  });
}

int send_rows(phl_migration migration, const std::function<GivenRows()>& read, int64_t* received) {
  return with(migration, [&](auto& object) {
    GivenRows given;
    const auto send = [&] { return object.migration.send(given.ranks, given.arrays); };
    put(received,
        collective(object.communicator(), "a migration", 0, [&] { given = read(); }, send));
  });
}

}  // namespace parhelion::c

extern "C" {

int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  return make_map(comm, "phl_index_map_create", {list(ghost_ids, ghosts, "ghost_ids")},
      blocks(owned), options, map);
}

int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
    int64_t ghosts, const int64_t* ghost_ids, int self_ghosts, const phl_exchange_options* options,
    phl_index_map* map) {
  return make_map(comm, "phl_index_map_create_with_ids",
      {list(owned_ids, owned, "owned_ids"), list(ghost_ids, ghosts, "ghost_ids")},
      with_ids(self_ghosts != 0), options, map);
}

int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
    const int64_t* ghost_counts, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map) {
  // Checks the length before reading the lists.
  const auto per_rank = [=](const int64_t* counts, const char* name) -> List {
    return [=](const Communicator& own) {
      if (ranks != own.size())
        throw Error("the root lists counts of " + std::to_string(ranks) +
                    " ranks and the communicator has " + std::to_string(own.size()) +
                    ": give one entry per rank");
      return list(counts, ranks, name)(own);
    };
  };
  return make_map(comm, "phl_index_map_create_from_root",
      {on_root(root, per_rank(owned, "owned")),
          on_root(root, per_rank(ghost_counts, "ghost_counts")),
          on_root(root, list(ghost_ids, ghosts, "ghost_ids"))},
      from_root(root), options, map);
}

int phl_index_map_read(
    MPI_Comm comm, const char* path, const phl_exchange_options* options, phl_index_map* map) {
  const auto require_path = [=](const Communicator&) {
    require_output(path, "path");
    return std::vector<global_index>();
  };
  const auto read = [=](const Lists&, const Communicator& own, const ExchangeOptions& with) {
    PartitionPart part = read_partition(path, own);
    return IndexMap(IndexedDomain(part.owned, std::move(part.ghosts), own), with);
  };
  return make_map(comm, "phl_index_map_read", {require_path}, read, options, map);
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
          put(per_id, int32_t{read.per_id});
          if (keys != nullptr) std::copy(read.keys.begin(), read.keys.end(), keys);
        });
  });
}

int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
    const int32_t* ranks, phl_index_map* map) {
  return derive_map(owners, "phl_index_map_create_push",
      {list(cells, count, "cells"), list(ranks, count, "ranks")}, &pushed, map);
}

int phl_index_map_create_from_neighbors(MPI_Comm comm, int64_t neighbors, const int32_t* ranks,
    const int64_t* counts, const int32_t* cells, const int64_t* received_counts,
    const int32_t* received, const phl_exchange_options* options, phl_index_map* map) {
  std::vector<List> lists{list(ranks, neighbors, "ranks"), list(counts, neighbors, "counts"),
      in_lists(cells, counts, neighbors, "cells")};
  const bool both = received_counts != nullptr;
  if (both) {
    lists.push_back(list(received_counts, neighbors, "received_counts"));
    lists.push_back(in_lists(received, received_counts, neighbors, "received"));
  }
  return make_map(
      comm, "phl_index_map_create_from_neighbors", lists, from_neighbors(both, {}), options, map);
}

int phl_index_map_create_placed(phl_index_map of, int64_t owned, const int32_t* places,
    int64_t ghosts, const int32_t* ghost_places, phl_index_map* map) {
  return derive_map(of, "phl_index_map_create_placed",
      {list(places, owned, "places"), list(ghost_places, ghosts, "ghost_places")}, with_places({}),
      map);
}

int phl_index_map_create_only(phl_index_map of, const phl_values* mask, phl_index_map* subset) {
  return make_subset(of, mask_in(mask), subset);
}
int phl_index_map_update(phl_index_map subset, const phl_values* mask) {
  return update_subset(subset, mask_in(mask));
}

int phl_index_map_create_ragged(
    phl_index_map rows, int64_t owned_rows, const int64_t* counts, phl_index_map* map) {
  return derive_map(
      rows, "phl_index_map_create_ragged", {list(counts, owned_rows, "counts")}, &ragged, map);
}

int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids) {
  return change_map(
      map, "phl_index_map_add_ghosts", list(ids, count, "ids"),
      [](const IndexedDomain& domain, const std::vector<global_index>& added) {
        return with_added_ghosts(domain, added);
      },
      [] {});
}

int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return localize_ids(map, "phl_index_map_localize",
      with_room(list(ids, count, "ids"), cells, count, "cells"), to(cells));
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
    if (ids != nullptr) std::copy(domain.ghost_ids().begin(), domain.ghost_ids().end(), ids);
    if (owners != nullptr)
      std::copy(domain.ghost_owners().begin(), domain.ghost_owners().end(), owners);
  });
}

int phl_index_map_places(phl_index_map map, int32_t* owned, int32_t* ghosts) {
  return with(map, [&](const auto& object) {
    const Places& places = placed(object.map);
    if (owned != nullptr) std::copy(places.owned.begin(), places.owned.end(), owned);
    if (ghosts != nullptr) std::copy(places.ghosts.begin(), places.ghosts.end(), ghosts);
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
    const List given = with_room(list(cells, count, "cells"), ids, count, "ids");
    to(ids)(ids_of(object.map, given(object.communicator())));
  });
}

int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
  return with(map, [&](const auto& object) {
    const List given = with_room(list(ids, count, "ids"), cells, count, "cells");
    to(cells)(cells_of(object.map, given(object.communicator())));
  });
}

int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks) {
  return owners_of(map, "phl_index_map_owners",
      with_room(list(ids, count, "ids"), ranks, count, "ranks"), to(ranks));
}

#define PHL_MAP_CALL(name, call, phase)                                        \
  int phl_map_##name(phl_index_map map, const phl_values* arrays, int count) { \
    return run(map, MapCall::call, Phase::phase, PHL_REPLACE, arrays, count);  \
  }
#define PHL_MAP_REDUCTION(name, call, phase)                                                  \
  int phl_map_##name(phl_index_map map, int reduction, const phl_values* arrays, int count) { \
    return run(map, MapCall::call, Phase::phase, reduction, arrays, count);                   \
  }
PHL_MAP_CALL(prepare, forward, prepare)
PHL_MAP_CALL(prepare_shared, reduce_shared, prepare)
PHL_MAP_CALL(forward, forward, whole)
PHL_MAP_CALL(begin_forward, forward, begin)
PHL_MAP_REDUCTION(reverse, reverse, whole)
PHL_MAP_REDUCTION(begin_reverse, reverse, begin)
PHL_MAP_REDUCTION(reduce_shared, reduce_shared, whole)
PHL_MAP_REDUCTION(begin_reduce_shared, reduce_shared, begin)
PHL_MAP_CALL(end, forward, end)

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
  const auto read = [&] {
    require_array(ranks, rows, "ranks");
    return GivenRows{{ranks, ranks + rows}, rows_from(arrays, count)};
  };
  return send_rows(migration, read, received);
}
int phl_migration_receive(
    phl_migration migration, const phl_values* arrays, int count, int32_t* sources) {
  return with(migration, [&](const auto& object) {
    object.migration.receive(rows_from(arrays, count));
    if (sources != nullptr) std::ranges::copy(object.migration.sources(), sources);
  });
}
int phl_migration_free(phl_migration* migration) { return free_handle(migration); }

}  // extern "C"

// Index maps: reads array descriptors, and counts ids from 0.
#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

std::vector<local_index> cells_from_zero(Array array, const char* what, local_index last) {
  const Ids cells = integers_of(array, "cells", -1);
  for (const global_index cell : cells)
    if (cell < 0 || cell >= last) refuse(what, cell + 1, " here: use 1 … ", last);
  return {cells.begin(), cells.end()};
}

// Some compilers pass logicals as CFI_type_other.
CellValues values_for(const IndexMap& map, Array x, Array ghosts, int reduction) {
  if (ghosts != nullptr) refuse_places(map.places());
  CellValues values =
      map.places() ? values_in(*map.places(), shape_of(x)) : values_of(map.domain(), x, ghosts);
  const bool bits = reduction == PHL_AND || reduction == PHL_OR;
  if (is_logical(x->type) && !bits && reduction != PHL_REPLACE && reduction < Reduction::user)
    throw Error("logicals are combined with and, or: use these, or integers", ErrorKind::type);
  if (bits && x->type == CFI_type_other && values.element.size == 4)
    values.element.scalar = Scalar::int32;
  return values;
}

// Splits concatenated lists by neighbor.
std::vector<NeighborCells> neighbor_cells(std::span<const int> ranks,
    std::span<const global_index> counts, std::span<const local_index> cells) {
  std::vector<NeighborCells> all;
  auto next = cells.begin();
  bool fits = counts.size() == ranks.size();
  for (std::size_t k = 0; fits && k < ranks.size(); ++k) {
    fits = counts[k] >= 0 && counts[k] <= cells.end() - next;
    if (fits) all.push_back({ranks[k], {next, next + counts[k]}}), next += counts[k];
  }
  if (!fits || next != cells.end())
    refuse(counts.size(), " counts and ", cells.size(), " cells do not fit the lists of ",
        ranks.size(),
        " neighbors: give one count of 0 or more for each; their sum is the number of cells");
  return all;
}

Places extents_from(Array shape, Array components_dim) {
  Places places;
  places.extents = integers_of(shape, "shape");
  places.components_at = int_of(number_of(components_dim, 1) - 1);
  return places;
}

// To an optional argument.
template <class Values>
void put(Array array, const Values& values, const char* name, global_index shift = 0) {
  if (array != nullptr) assign(array, {values.begin(), values.end()}, name, shift);
}

// write.py numbers them one after the other.
constexpr void (IndexMap::* calls[])(const CellArrays&) const = {&IndexMap::forward,
    &IndexMap::begin_forward, &IndexMap::end, &IndexMap::prepare, &IndexMap::prepare_shared};
constexpr void (IndexMap::* reductions[])(const CellArrays&, Reduction) const = {&IndexMap::reverse,
    &IndexMap::begin_reverse, &IndexMap::reduce_shared, &IndexMap::begin_reduce_shared};

std::vector<CellValues> rows_of(std::initializer_list<Array> arrays) {
  std::vector<CellValues> rows;
  for (Array array : arrays) {
    if (array == nullptr) continue;
    const auto [values, count] = fortran::cells_of(array, "an array of rows");
    rows.push_back(values);
    rows.back().elements = count * values.components;
  }
  return rows;
}

}  // namespace

// All ranks report errors of what a call reads before it communicates.
extern "C" {

int phl_f_init_map(const int* comm, Array owned, Array ghosts, Array self_ghosts, Options options,
    phl_index_map* made) {
  return make_map(comm_of(comm), "index_map%init", options, made, [&](const Communicator& own) {
    const Ids ids = integers_of(ghosts, "ghosts", -1);
    const auto self = is_set(self_ghosts, true) ? SelfGhosts::allowed : SelfGhosts::refused;
    if (owned == nullptr) return localize(ids, own).nodes;
    if (owned->rank == 0) return IndexedDomain(number_of(owned), ids, own, self);
    return IndexedDomain::with_owned_ids(integers_of(owned, "owned", -1), ids, own, self);
  });
}

int phl_f_init_root(const int* comm, Array root, Array owned, Array ghost_counts, Array ghosts,
    Options options, phl_index_map* made) {
  return make_map(comm_of(comm), "index_map%init", options, made, [&](const Communicator& own) {
    const int from = int_of(number_of(root));
    Ids lists[3];
    if (own.rank() == from) {
      lists[0] = integers_of(owned, "owned");
      lists[1] = integers_of(ghost_counts, "ghost_counts");
      lists[2] = integers_of(ghosts, "ghosts", -1);
    }
    return domain_from_root({lists[0], lists[1], lists[2]}, from, own);
  });
}

int phl_f_init_ragged(phl_index_map rows, Array counts, phl_index_map* made) {
  return derive_map(rows, "index_map%init", made, [&](const IndexMap& of) {
    Ids given = integers_of(counts, "counts");
    if (given.size() == static_cast<std::size_t>(of.size()))  // includes ghost rows
      given.resize(static_cast<std::size_t>(of.owned()));
    return ragged_domain(of, given);
  });
}

int phl_f_read_map(const int* comm, const char* path, Options options, phl_index_map* made) {
  return phl_index_map_read(comm_of(comm), path, options, made);
}

int phl_f_push(phl_index_map owners, Array cells, Array ranks, phl_index_map* made) {
  return derive_map(owners, "index_map%push", made, [&](const IndexMap& of) {
    const auto sent = cells_from_zero(cells, "no rank owns pushed cell ", of.owned());
    return IndexMap::push(of.domain(), sent, ints_of(ranks, "ranks")).domain();
  });
}

int phl_f_from_neighbor_lists(const int* comm, Array ranks, Array counts, Array cells,
    Array received_counts, Array received, Array shape, Array components_dim, Options options,
    phl_index_map* made) {
  const auto make = [&](const Communicator& own) {
    const std::vector<int> neighbors = ints_of(ranks, "ranks");
    const auto first =
        neighbor_cells(neighbors, integers_of(counts, "counts"), ints_of(cells, "cells", -1));
    if (received != nullptr && received_counts == nullptr)
      refuse("received comes without received_counts: pass both, or neither");
    const Places extents = extents_from(shape, components_dim);
    const ExchangeOptions with = options_from(options);
    if (received_counts == nullptr) return IndexMap::from_neighbor_lists(first, own, extents, with);
    const auto second = neighbor_cells(neighbors, integers_of(received_counts, "received_counts"),
        ints_of(received, "received", -1));
    return IndexMap::from_neighbor_lists(first, second, own, extents, with);
  };
  return make_map(comm_of(comm), "index_map%from_neighbor_lists", options, made, make);
}

int phl_f_place(phl_index_map cells, Array places, Array ghost_places, Array shape,
    Array components_dim, phl_index_map* made) {
  return derive_map(cells, "index_map%place", made, [&](const IndexMap& of) {
    Places all = extents_from(shape, components_dim);
    all.owned = ints_of(places, "places", -1);
    all.ghosts = ints_of(ghost_places, "ghost_places", -1);
    return of.placed(std::move(all));
  });
}

int phl_f_only(phl_index_map cells, Array mask, Array ghosts, phl_index_map* made) {
  return derive_map(cells, "a subset of an index map", made, [&](const IndexMap& map) {
    return map.only([&] { return values_for(map, mask, ghosts, PHL_REPLACE); });
  });
}
int phl_f_update(phl_index_map subset, Array mask, Array ghosts) {
  return with(subset, [&](const auto& object) {
    object.update([&] { return values_for(object, mask, ghosts, PHL_REPLACE); });
  });
}

// Fetches the ghost entries' ids, after the owned ones.
int phl_f_gather_ids(phl_index_map entries, Array ids, Array cells) {
  return with(entries, [&](const auto& object) {
    const IndexMap& map = object;
    std::vector<CellValues> values;
    const auto read = [&] {
      auto all = integers_of(ids, "ids");
      if (all.size() != static_cast<std::size_t>(map.owned()))
        refuse("the counts of the owned rows add up to ", map.owned(), " and there are ",
            all.size(), " ids: make them equal");
      all.resize(static_cast<std::size_t>(map.size()));
      assign(cells, all, "cells");
      values.push_back(values_for(map, cells, nullptr, PHL_REPLACE));
    };
    on_all(object, "index_map%localize_ragged", [&] {
      validate_together(map.communicator(), read);
      map.forward(values);
    });
  });
}

int phl_f_init_migration(const int* comm, phl_migration* made) {
  return phl_migration_create(comm_of(comm), made);
}

int phl_f_send(phl_migration migration, Array ranks, Array received, PHL_EIGHT) {
  return with(migration, [&](auto& object) {
    std::vector<int> to;
    std::vector<CellValues> rows;
    const auto check = [&] {
      rows = rows_of({a, b, c, d, e, f, g, h});
      to = ints_of(ranks, "ranks");
      require_room(received, 1, "received");
    };
    const Communicator& comm = object.communicator();
    const int64_t count = collectively(comm, "a migration", [&] {
      validate_together(comm, check);
      return object.send(to, rows);
    });
    assign(received, {count}, "received");
  });
}

int phl_f_receive(phl_migration migration, PHL_EIGHT, Array sources) {
  return with(migration, [&](const auto& object) {
    object.receive(rows_of({a, b, c, d, e, f, g, h}));
    put(sources, object.sources(), "sources");
  });
}

// Arrays of owned cells and ghosts, or one of each.
int phl_f_map_call(phl_index_map map, int call, PHL_EIGHT, Array ghosts, Array reduction) {
  return with(map, [&](auto& object) {
    const int how = int_of(number_of(reduction, PHL_REPLACE));
    object.arrays.clear();
    for (Array x : {a, b, c, d, e, f, g, h})
      if (x != nullptr) object.arrays.push_back(values_for(object, x, ghosts, how));
    const auto number = static_cast<std::size_t>(call);
    if (number < std::size(calls)) (object.*calls[number])(object.arrays);
    else (object.*reductions[number - std::size(calls)])(object.arrays, reduction_from(how));
  });
}

int phl_f_transfer(phl_index_map map, int to_root, Array root, Array all, Array a) {
  const char* const call = to_root != 0 ? "index_map%collate" : "index_map%distribute";
  const int from = int_of(number_of(root));
  return with(map, [&](auto& object) {
    on_all(object, call, [&] {
      refuse_places(object.places());
      const auto [mine, count] = fortran::cells_of(a, "the array of owned cells");
      if (count != object.size() && count != object.owned())
        refuse("the array of owned cells has ", count, " cells in its last dimension and the map ",
            object.owned(), ": make them equal");
      Cells whole{mine, 0};
      if (object.communicator().rank() == from) {
        whole = fortran::cells_of(all, "the array of all cells");
        require_equal_cells(mine, whole.values);
      }
      (to_root != 0 ? &collate : &distribute)(
          object.domain(), from, whole.values.owned, whole.count, mine.owned, mine.width());
    });
  });
}

int phl_f_to_global(phl_index_map map, Array cells, Array ids) {
  return with(map, [&](const auto& object) {
    Ids found;
    for (const local_index cell : cells_from_zero(cells, "there is no local cell ", object.size()))
      found.push_back(object.domain().global_of(cell));
    assign(ids, found, "ids", 1);
  });
}

int phl_f_to_local(phl_index_map map, Array ids, Array cells) {
  return with(map, [&](const auto& object) {
    const Ids given = integers_of(ids, "ids", -1);
    std::vector<local_index> found(given.size());
    object.domain().local_of(given, found);
    put(cells, found, "cells", 1);
  });
}

int phl_f_owners(phl_index_map map, Array ids, Array ranks) {
  return with(map, [&](const auto& object) {
    const auto find = [&] {
      const Ids given = integers_of(ids, "ids", -1);
      require_room(ranks, given.size(), "ranks");
      return object.domain().owners_of(given);
    };
    put(ranks, on_all(object, "index_map%owners", find), "ranks");
  });
}

int phl_f_localize(phl_index_map map, Array ids, Array cells) {
  return with(map, [&](auto& object) {
    const auto read = [&] {
      Ids given = integers_of(ids, "ids");
      require_room(cells, given.size(), "cells");
      const IndexedDomain& domain = object.domain();
      const global_index last = domain.global_size();
      for (global_index& id : given) {
        if (id < 0 || (domain.first() >= 0 && id > last))  // owned ids may have gaps
          refuse("index ", id, " is outside of 1 … ", last, " (0: none)");
        --id;
      }
      return given;
    };
    put(cells, localize_ids(object, "index_map%localize", read), "cells", 1);
  });
}

int phl_f_ghosts(phl_index_map map, Array ids, Array owners) {
  return with(map, [&](const auto& object) {
    put(ids, object.domain().ghost_ids(), "ids", 1);
    put(owners, object.domain().ghost_owners(), "owners");
  });
}

int phl_f_places(phl_index_map map, Array owned, Array ghosts) {
  return with(map, [&](const auto& object) {
    const Places& places = placed(object);
    put(owned, places.owned, "owned", 1);
    put(ghosts, places.ghosts, "ghosts", 1);
  });
}

/* The last message; ids and places in it count from 0, Fortran's from 1. */
const char* phl_f_last_error(void) {
  thread_local std::string text;
  const int status = guarded([&] {
    text = phl_last_error();
    for (const char* counted : {"global id", " place ", "list for rank"})
      if (text.find(counted) != std::string::npos)
        return void(text += " (numbers of cells are counted from 0 here)");
  });
  return status == 0 ? text.c_str() : phl_last_error();
}

}  // extern "C"

// Index maps for the Fortran module: reads array descriptors, and counts ids from 0.
#include <algorithm>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

using Ids = std::vector<global_index>;

List numbers(Array array, const char* name, global_index shift = 0) {
  return [=](const Communicator&) { return integers_of(*array, name, shift); };
}
List ids_from_zero(Array array, const char* name) { return numbers(array, name, -1); }

// Reads a list, and throws Error unless `room` can hold one result per entry.
List with_room(const List& list, Array room, const char* name) {
  return [=](const Communicator& comm) {
    Ids given = list(comm);
    require_room(*room, given.size(), name);
    return given;
  };
}

Ids cells_from_zero(Array array, const char* name, const char* what, local_index last) {
  Ids cells = integers_of(*array, name, -1);
  for (const global_index cell : cells)
    if (cell < 0 || cell >= last)
      throw Error(what + std::to_string(cell + 1) + " here: use 1 … " + std::to_string(last));
  return cells;
}

// Some compilers pass logicals as CFI_type_other.
CellValues values_for(const IndexMap& map, const CFI_cdesc_t& x, Array ghosts, int reduction) {
  if (ghosts != nullptr) refuse_places(map.places());
  CellValues values = map.places() ? values_in(*map.places(), shape_of(x, "the array"))
                                   : values_of(map.domain(), x, ghosts);
  const bool bits = reduction == PHL_AND || reduction == PHL_OR;
  if (is_logical(x.type) && !bits && reduction != PHL_REPLACE && reduction < Reduction::user)
    throw Error("logicals are combined with and, or: use those, or integers", ErrorKind::type);
  if (bits && x.type == CFI_type_other && values.element.size == 4)
    values.element.scalar = Scalar::int32;
  return values;
}

ReadMask mask_in(Array mask, Array ghosts) {
  return [=](const IndexMap& map) { return values_for(map, *mask, ghosts, PHL_REPLACE); };
}

// Extents of the cells in arrays, and the dimension of the components.
Places extents_from(Array shape, Array components_dim) {
  Places places;
  if (shape != nullptr) places.extents = integers_of(*shape, "shape");
  if (components_dim != nullptr)
    places.components_at = int_of(integers_of(*components_dim, "components_dim", -1).at(0));
  return places;
}

int transfer(phl_index_map map, const char* call, bool to_root, int root, Array all, Array x) {
  return c::transfer(map, call, to_root, root, [&](const IndexMap& m) {
    const auto [mine, count] = fortran::cells_of(*x, "the array of owned cells");
    if (count != m.size() && count != m.owned())
      throw Error("the array of owned cells has " + std::to_string(count) +
                  " cells in its last dimension and the map " + std::to_string(m.owned()) +
                  ": make them equal");
    if (m.communicator().rank() != root) return Transfer{mine, mine};
    const auto [everything, cells] = fortran::cells_of(*all, "the array of all cells");
    require_equal_cells(mine, everything);
    return Transfer{mine, everything, cells};
  });
}

// To an optional argument.
template <class Values>
void put(Array array, const Values& values, const char* name, global_index shift = 0) {
  if (array != nullptr) assign(*array, {values.begin(), values.end()}, name, shift);
}

std::vector<CellValues> rows_of(std::initializer_list<Array> arrays) {
  std::vector<CellValues> rows;
  for (Array array : arrays) {
    if (array == nullptr) continue;
    const auto [values, count] = fortran::cells_of(*array, "an array of rows");
    rows.push_back(values);
    rows.back().elements = count * values.components;
  }
  return rows;
}

}  // namespace

extern "C" {

int phl_f_index_map_create(const int* comm, int owned, Array ghosts,
    const phl_exchange_options* options, phl_index_map* map) {
  return with_comm(comm, [&](MPI_Comm of) {
    return make_map(
        of, "index_map%init", {ids_from_zero(ghosts, "ghosts")}, blocks(owned), options, map);
  });
}

int phl_f_index_map_create_with_ids(const int* comm, Array owned_ids, Array ghosts, int self_ghosts,
    const phl_exchange_options* options, phl_index_map* map) {
  return with_comm(comm, [&](MPI_Comm of) {
    return make_map(of, "index_map%init",
        {ids_from_zero(owned_ids, "owned"), ids_from_zero(ghosts, "ghosts")},
        with_ids(self_ghosts != 0), options, map);
  });
}

int phl_f_index_map_create_from_root(const int* comm, int root, Array owned, Array counts,
    Array ghosts, const phl_exchange_options* options, phl_index_map* map) {
  return with_comm(comm, [&](MPI_Comm of) {
    return make_map(of, "index_map%init",
        {on_root(root, numbers(owned, "owned")), on_root(root, numbers(counts, "ghost_counts")),
            on_root(root, ids_from_zero(ghosts, "ghosts"))},
        from_root(root), options, map);
  });
}

int phl_f_index_map_create_ragged(phl_index_map rows, Array counts, phl_index_map* map) {
  return derive_map(
      rows, "index_map%init", {numbers(counts, "counts")},
      [](Lists given, const IndexMap& of, const ExchangeOptions& options) {
        if (given[0].size() == static_cast<std::size_t>(of.size()))  // includes ghost rows
          given[0].resize(static_cast<std::size_t>(of.owned()));
        return ragged(std::move(given), of, options);
      },
      map);
}

int phl_f_index_map_read(
    const int* comm, const char* path, const phl_exchange_options* options, phl_index_map* map) {
  return with_comm(comm, [&](MPI_Comm of) { return phl_index_map_read(of, path, options, map); });
}

int phl_f_index_map_push(phl_index_map owners, Array cells, Array ranks, phl_index_map* map) {
  const List checked = [=](const Communicator&) {
    return cells_from_zero(cells, "cells", "no rank owns pushed cell ", get(owners)->map.owned());
  };
  return derive_map(owners, "index_map%push", {checked, numbers(ranks, "ranks")}, &pushed, map);
}

int phl_f_index_map_from_neighbors(const int* comm, Array ranks, Array counts, Array cells,
    Array received_counts, Array received, Array shape, Array components_dim,
    const phl_exchange_options* options, phl_index_map* map) {
  const bool both = received_counts != nullptr;
  const List received_cells = [=](const Communicator& comm) {
    if (received == nullptr) return Ids();
    if (!both) throw Error("received comes without received_counts: pass both, or neither");
    return ids_from_zero(received, "received")(comm);
  };
  return with_comm(comm, [&](MPI_Comm of) {
    std::vector<List> lists{
        numbers(ranks, "ranks"), numbers(counts, "counts"), ids_from_zero(cells, "cells")};
    if (both) lists.push_back(numbers(received_counts, "received_counts"));
    lists.push_back(received_cells);
    return make_map(
        of, "index_map%from_neighbor_lists", lists,
        [=](const Lists& given, const Communicator& own, const ExchangeOptions& with) {
          return from_neighbors(both, extents_from(shape, components_dim))(given, own, with);
        },
        options, map);
  });
}

int phl_f_index_map_place(phl_index_map cells, Array places, Array ghost_places, Array shape,
    Array components_dim, phl_index_map* map) {
  return derive_map(
      cells, "index_map%place",
      {ids_from_zero(places, "places"), ids_from_zero(ghost_places, "ghost_places")},
      [=](const Lists& given, const IndexMap& of, const ExchangeOptions& options) {
        return with_places(extents_from(shape, components_dim))(given, of, options);
      },
      map);
}

int phl_f_index_map_only(phl_index_map cells, Array mask, Array ghosts, phl_index_map* subset) {
  return make_subset(cells, mask_in(mask, ghosts), subset);
}
int phl_f_update(phl_index_map subset, Array mask, Array ghosts) {
  return update_subset(subset, mask_in(mask, ghosts));
}

// Fetches the ids of the ghost entries, after those of the owned entries.
int phl_f_gather_ids(phl_index_map entries, Array ids, Array cells) {
  return with(entries, [&](const auto& object) {
    const IndexMap& map = object.map;
    std::vector<CellValues> values;
    const auto read = [&] {
      auto all = integers_of(*ids, "ids");
      if (all.size() != static_cast<std::size_t>(map.owned()))
        throw Error("the counts of the owned rows add up to " + std::to_string(map.owned()) +
                    " and there are " + std::to_string(all.size()) + " ids: make them equal");
      all.resize(static_cast<std::size_t>(map.size()));
      assign(*cells, all, "cells");
      values.push_back(values_for(map, *cells, nullptr, PHL_REPLACE));
    };
    collective(map.communicator(), "index_map%localize_ragged", setup_limit(object.options), read,
        [&] { map.forward(values); });
  });
}

int phl_f_migration_create(const int* comm, phl_migration* migration) {
  return with_comm(comm, [&](MPI_Comm of) { return phl_migration_create(of, migration); });
}

int phl_f_migration_send(phl_migration migration, Array ranks, Array received, Array a, Array b,
    Array c, Array d, Array e, Array f, Array g, Array h) {
  int64_t count = 0;
  const auto read = [&] {
    GivenRows given{{}, rows_of({a, b, c, d, e, f, g, h})};
    for (const auto rank : integers_of(*ranks, "ranks")) given.ranks.push_back(int_of(rank));
    return given;
  };
  const int done = send_rows(migration, read, &count);
  return done != 0 ? done : guarded([&] { assign(*received, {count}, "received"); });
}

int phl_f_migration_receive(phl_migration migration, Array a, Array b, Array c, Array d, Array e,
    Array f, Array g, Array h, Array sources) {
  return with(migration, [&](const auto& object) {
    object.migration.receive(rows_of({a, b, c, d, e, f, g, h}));
    put(sources, object.migration.sources(), "sources");
  });
}

// Arrays of owned cells and ghosts, or one array of owned cells and one of ghosts.
int phl_f_map_call(phl_index_map map, int call, int phase, int reduction, Array a, Array b, Array c,
    Array d, Array e, Array f, Array g, Array h, Array ghosts) {
  return with(map, [&](auto& object) {
    object.arrays.clear();
    for (Array x : {a, b, c, d, e, f, g, h})
      if (x != nullptr) object.arrays.push_back(values_for(object.map, *x, ghosts, reduction));
    run(object.map, static_cast<MapCall>(call), static_cast<Phase>(phase), reduction,
        object.arrays);
  });
}

int phl_f_distribute(phl_index_map map, int root, Array all, Array x) {
  return transfer(map, "index_map%distribute", false, root, all, x);
}
int phl_f_collate(phl_index_map map, int root, Array x, Array all) {
  return transfer(map, "index_map%collate", true, root, all, x);
}

int phl_f_to_global(phl_index_map map, Array cells, Array ids) {
  return with(map, [&](const auto& object) {
    const Ids given = cells_from_zero(cells, "cells", "there is no local cell ", object.map.size());
    assign(*ids, ids_of(object.map, given), "ids", 1);
  });
}

int phl_f_to_local(phl_index_map map, Array ids, Array cells) {
  return with(map, [&](const auto& object) {
    assign(*cells, c::cells_of(object.map, integers_of(*ids, "ids", -1)), "cells", 1);
  });
}

int phl_f_owners(phl_index_map map, Array ids, Array ranks) {
  return owners_of(map, "index_map%owners", with_room(ids_from_zero(ids, "ids"), ranks, "ranks"),
      [=](const Ids& owners) { assign(*ranks, owners, "ranks"); });
}

int phl_f_localize(phl_index_map map, Array ids, Array cells) {
  const List checked = [=](const Communicator&) {
    Ids given = integers_of(*ids, "ids");
    require_room(*cells, given.size(), "cells");
    const IndexedDomain& domain = get(map)->domain();
    const global_index last = domain.global_size();
    for (global_index& id : given) {
      if (id < 0 || (domain.first() >= 0 && id > last))  // owned ids may have gaps
        throw Error("index " + std::to_string(id) + " is outside of 1 … " + std::to_string(last) +
                    " (0: none)");
      --id;
    }
    return given;
  };
  return localize_ids(map, "index_map%localize", checked,
      [=](const Ids& found) { assign(*cells, found, "cells", 1); });
}

int phl_f_ghosts(phl_index_map map, Array ids, Array owners) {
  return with(map, [&](const auto& object) {
    put(ids, object.domain().ghost_ids(), "ids", 1);
    put(owners, object.domain().ghost_owners(), "owners");
  });
}

int phl_f_places(phl_index_map map, Array owned, Array ghosts) {
  return with(map, [&](const auto& object) {
    const Places& places = placed(object.map);
    put(owned, places.owned, "owned", 1);
    put(ghosts, places.ghosts, "ghosts", 1);
  });
}

/* The last message; ids and places in it count from 0, Fortran's from 1. */
const char* phl_f_last_error(void) {
  thread_local std::string text;
  text = phl_last_error();
  for (const char* counted : {"global id", " place ", "list for rank"})
    if (text.find(counted) != std::string::npos)
      return (text += " (numbers of cells are counted from 0 here)").c_str();
  return text.c_str();
}

}  // extern "C"

// Index maps: made, asked, and exchanges of the arrays that each call names.
#include <algorithm>

#include "objects.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/localize.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

std::span<const global_index> span_of(const int64_t* values, int64_t count) {
    return {values, static_cast<std::size_t>(count)};
}

std::vector<global_index> vector_of(const int64_t* values, int64_t count) {
    return {values, values + count};
}

template <class T>
void put(T* place, T value) {
    if (place != nullptr) *place = value;
}

void require_keys(const IndexMap& map, const PartitionKeys& read, int64_t capacity,
                  const int64_t* keys) {
    const auto count = static_cast<int64_t>(read.keys.size());
    if (count != int64_t{map.owned()} * read.per_id)
        throw Error("the part of this rank has keys for " + std::to_string(count / read.per_id) +
                    " ids and the map " + std::to_string(map.owned()) +
                    " owned ones: pass the file that the map was read from");
    if (keys != nullptr && capacity < count)
        throw Error("keys has room for " + std::to_string(capacity) + " numbers and there are " +
                    std::to_string(count) + ": make it larger; without it per_id alone is told");
}

int components_from(phl_element element) {
    if (element.components < 0)
        throw Error("a cell cannot have " + std::to_string(element.components) + " components");
    return element.components == 0 ? 1 : element.components;
}

byte_count width_of(phl_element element) {
    return byte_count{element_from(element).size} * components_from(element);
}

CellArray array_from(const phl_cells& cells, byte_count width, const char* name) {
    if (cells.count > 0 && cells.first == nullptr)
        throw Error(std::string(name) + ".first is a null pointer: pass an array of " +
                    std::to_string(cells.count) + " cells");
    return {static_cast<std::byte*>(cells.first), cells.stride == 0 ? width : cells.stride};
}

void require_cells(int64_t given, int64_t needed, const char* name) {
    if (given != needed)
        throw Error(std::string(name) + " has " + std::to_string(given) +
                    " cells and the map needs " + std::to_string(needed) +
                    ": pass an array of that many cells");
}

// Of a map: which cells of the arrays belong together, the map finds out.
CellValues values_from(const IndexMap& map, const phl_values& given) {
    const byte_count width = width_of(given.element);
    CellValues values{array_from(given.owned, width, "owned"),
                      {},
                      element_from(given.element),
                      components_from(given.element)};
    if (given.ghosts.first == nullptr && given.owned.count != map.owned()) {
        require_cells(given.owned.count, map.size(), "the array of owned cells and ghosts");
    } else {
        require_cells(given.owned.count, map.owned(), "the array of owned cells");
        require_cells(given.ghosts.count, map.ghosts(), "the array of ghosts");
        values.ghosts = array_from(given.ghosts, width, "ghosts");
    }
    return values;
}

template <class Work>
int with_arrays(phl_index_map map, const phl_values* given, int count, Work&& work) {
    return with(map, [&](auto& object) {
        require_array(given, count, "arrays");
        object.arrays.clear();
        for (int i = 0; i < count; ++i) object.arrays.push_back(values_from(object.map, given[i]));
        work(object.map, CellArrays(object.arrays));
    });
}

// On the communicator of a map.
template <class Check, class Work>
int on_map(phl_index_map map, const char* call, Check&& check, Work&& work) {
    return with(map, [&](auto& object) {
        collective(
            object.map.communicator(), call, 0, [&] { check(object.map); },
            [&] { work(object.map); });
    });
}

void keep_map(IndexedDomain domain, ExchangeOptions options, phl_index_map* map) {
    IndexMap made(std::move(domain), options);
    keep(IndexMapObject{std::move(made), std::move(options)}, *map);
}

// A map of the cells that `make` gives.
template <class Check, class Make>
int make_map(MPI_Comm handle, const char* call, const phl_exchange_options* options,
             phl_index_map* map, Check&& check, Make&& make) {
    return guarded([&] {
        const Communicator comm(handle);
        const auto read = [&] {
            require_output(map, "map");
            check(comm);
        };
        collective(comm, call, limit_of(options), read,
                   [&] { keep_map(make(comm), options_from(options), map); });
    });
}

// A map that comes from another one, with its options.
template <class Check, class Make>
int derive_map(phl_index_map from, const char* call, phl_index_map* map, Check&& check,
               Make&& make) {
    return with(from, [&](const auto& base) {
        const auto read = [&] {
            require_output(map, "map");
            check(base.map);
        };
        collective(base.map.communicator(), call, 0, read,
                   [&] { keep_map(make(base.map), base.options, map); });
    });
}

// The map gets the cells that `make` gives in the place of its own, unless an exchange is under
// way.
template <class Check, class Make>
int change_map(phl_index_map map, const char* call, Check&& check, Make&& make) {
    return with(map, [&](auto& object) {
        const auto read = [&] {
            check(object.domain());
            if (object.map.under_way())
                throw Error(
                    "an exchange of the map is under way: end it before the map gets further "
                    "ghosts");
        };
        object.map = collective(object.map.communicator(), call, 0, read,
                                [&] { return IndexMap(make(object.domain()), object.options); });
    });
}

// Where all cells of a map are on one rank: `all` there, `owned` everywhere.
using Transfer = void (*)(const IndexedDomain&, int, CellArray, global_index, CellArray,
                          byte_count);

int transfer(const char* call, Transfer move, phl_index_map map, int root, phl_element element,
             const phl_cells& all, const phl_cells& owned) {
    CellArray everything, mine;
    byte_count width = 0, count = 0;
    const auto check = [&](const IndexMap& m) {
        width = width_of(element);
        require_cells(owned.count, m.owned(), "the array of owned cells");
        mine = array_from(owned, width, "owned");
        if (m.communicator().rank() != root) return;
        everything = array_from(all, width, "all");
        count = all.count;
    };
    return on_map(map, call, check, [&](const IndexMap& m) {
        move(m.domain(), root, everything, count, mine, width);
    });
}

}  // namespace

extern "C" {

int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
                         const phl_exchange_options* options, phl_index_map* map) {
    return make_map(
        comm, "phl_index_map_create", options, map,
        [&](const Communicator&) { require_array(ghost_ids, ghosts, "ghost_ids"); },
        [&](const Communicator& own) {
            return IndexedDomain(owned, vector_of(ghost_ids, ghosts), own);
        });
}

int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
                                  int64_t ghosts, const int64_t* ghost_ids, int self_ghosts,
                                  const phl_exchange_options* options, phl_index_map* map) {
    const auto check = [&](const Communicator&) {
        require_array(owned_ids, owned, "owned_ids");
        require_array(ghost_ids, ghosts, "ghost_ids");
    };
    return make_map(comm, "phl_index_map_create_with_ids", options, map, check,
                    [&](const Communicator& own) {
                        return IndexedDomain::with_owned_ids(
                            vector_of(owned_ids, owned), vector_of(ghost_ids, ghosts), own,
                            self_ghosts ? SelfGhosts::allowed : SelfGhosts::refused);
                    });
}

int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
                                   const int64_t* ghost_counts, int64_t ghosts,
                                   const int64_t* ghost_ids, const phl_exchange_options* options,
                                   phl_index_map* map) {
    RootLists lists;
    const auto check = [&](const Communicator& own) {
        if (own.rank() != root) return;
        require_array(owned, ranks, "owned");
        require_array(ghost_counts, ranks, "ghost_counts");
        require_array(ghost_ids, ghosts, "ghost_ids");
        lists = {span_of(owned, ranks), span_of(ghost_counts, ranks), span_of(ghost_ids, ghosts)};
    };
    return make_map(comm, "phl_index_map_create_from_root", options, map, check,
                    [&](const Communicator& own) { return domain_from_root(lists, root, own); });
}

int phl_index_map_read(MPI_Comm comm, const char* path, const phl_exchange_options* options,
                       phl_index_map* map) {
    return make_map(
        comm, "phl_index_map_read", options, map,
        [&](const Communicator&) { require_output(path, "path"); },
        [&](const Communicator& own) {
            PartitionPart part = read_partition(path, own);
            return IndexedDomain(part.owned, std::move(part.ghosts), own);
        });
}

int phl_index_map_read_keys(phl_index_map map, const char* path, int32_t* per_id, int64_t capacity,
                            int64_t* keys) {
    return on_map(
        map, "phl_index_map_read_keys", [&](const IndexMap&) { require_output(path, "path"); },
        [&](const IndexMap& m) {
            const PartitionKeys read = read_partition_keys(path, m.communicator());
            validate_together(m.communicator(), [&] { require_keys(m, read, capacity, keys); });
            put(per_id, int32_t{read.per_id});
            if (keys != nullptr) std::copy(read.keys.begin(), read.keys.end(), keys);
        });
}

int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
                              const int32_t* ranks, phl_index_map* map) {
    const auto check = [&](const IndexMap&) {
        require_array(cells, count, "cells");
        require_array(ranks, count, "ranks");
    };
    return derive_map(owners, "phl_index_map_create_push", map, check, [&](const IndexMap& base) {
        const auto all = static_cast<std::size_t>(count);
        return IndexMap::push(base.domain(), {cells, all}, {ranks, all}).domain();
    });
}

int phl_index_map_create_ragged(phl_index_map rows, int64_t owned_rows, const int64_t* counts,
                                phl_index_map* map) {
    return derive_map(
        rows, "phl_index_map_create_ragged", map,
        [&](const IndexMap&) { require_array(counts, owned_rows, "counts"); },
        [&](const IndexMap& base) { return ragged_domain(base, span_of(counts, owned_rows)); });
}

int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids) {
    return change_map(
        map, "phl_index_map_add_ghosts",
        [&](const IndexedDomain&) { require_array(ids, count, "ids"); },
        [&](const IndexedDomain& domain) {
            return with_added_ghosts(domain, span_of(ids, count));
        });
}

int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
    const auto check = [&](const IndexedDomain&) {
        require_array(ids, count, "ids");
        require_array(cells, count, "cells");
    };
    return change_map(map, "phl_index_map_localize", check, [&](const IndexedDomain& domain) {
        auto [nodes, numbers] = localize(span_of(ids, count), domain);
        std::copy(numbers.begin(), numbers.end(), cells);
        return std::move(nodes);
    });
}

int phl_index_map_free(phl_index_map* map) { return free_handle(map, "map"); }

int phl_index_map_sizes(phl_index_map map, int32_t* owned, int32_t* ghosts, int64_t* global,
                        int64_t* first) {
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

int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks) {
    return guarded([&] {
        const auto all = neighbor_ranks(get(map)->map.pattern());
        put(count, static_cast<int32_t>(all.size()));
        if (ranks != nullptr && capacity > 0)
            std::copy_n(all.begin(),
                        std::min<std::size_t>(all.size(), static_cast<std::size_t>(capacity)),
                        ranks);
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
    return with(map, [&](auto& object) {
        require_array(cells, count, "cells");
        require_array(ids, count, "ids");
        std::transform(cells, cells + count, ids,
                       [&](int32_t cell) { return object.domain().global_of(cell); });
    });
}

int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
    return with(map, [&](auto& object) {
        require_array(ids, count, "ids");
        require_array(cells, count, "cells");
        object.domain().local_of(span_of(ids, count), {cells, static_cast<std::size_t>(count)});
    });
}

int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks) {
    const auto check = [&](const IndexMap&) {
        require_array(ids, count, "ids");
        require_array(ranks, count, "ranks");
    };
    return on_map(map, "phl_index_map_owners", check, [&](const IndexMap& m) {
        const auto owners = m.domain().owners_of(span_of(ids, count));
        std::copy(owners.begin(), owners.end(), ranks);
    });
}

#define PHL_MAP_CALL(name)                                                                 \
    int phl_map_##name(phl_index_map map, const phl_values* arrays, int count) {           \
        return with_arrays(map, arrays, count,                                             \
                           [](const IndexMap& m, const CellArrays& all) { m.name(all); }); \
    }
#define PHL_MAP_REDUCTION(name)                                                                 \
    int phl_map_##name(phl_index_map map, int reduction, const phl_values* arrays, int count) { \
        return with_arrays(map, arrays, count, [&](const IndexMap& m, const CellArrays& all) {  \
            m.name(all, reduction_from(reduction));                                             \
        });                                                                                     \
    }

PHL_MAP_CALL(forward)
PHL_MAP_CALL(begin_forward)
PHL_MAP_CALL(end_forward)
PHL_MAP_REDUCTION(reverse)
PHL_MAP_REDUCTION(begin_reverse)
PHL_MAP_CALL(end_reverse)
PHL_MAP_REDUCTION(reduce_shared)
PHL_MAP_REDUCTION(begin_reduce_shared)
PHL_MAP_CALL(end_reduce_shared)

#define PHL_ONE_ARRAY(name, call)                                                               \
    int phl_##name(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts) { \
        const phl_values one{element, owned, ghosts};                                           \
        return phl_map_##call(map, &one, 1);                                                    \
    }
#define PHL_ONE_REDUCTION(name, call)                                                         \
    int phl_##name(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts, \
                   int reduction) {                                                           \
        const phl_values one{element, owned, ghosts};                                         \
        return phl_map_##call(map, reduction, &one, 1);                                       \
    }
PHL_ONE_ARRAY(gather, forward)
PHL_ONE_ARRAY(gather_begin, begin_forward)
PHL_ONE_ARRAY(gather_end, end_forward)
PHL_ONE_REDUCTION(scatter, reverse)
PHL_ONE_REDUCTION(scatter_begin, begin_reverse)
PHL_ONE_ARRAY(scatter_end, end_reverse)

int phl_distribute(phl_index_map map, int root, phl_element element, phl_cells all,
                   phl_cells owned) {
    return transfer("phl_distribute", &distribute, map, root, element, all, owned);
}
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all) {
    return transfer("phl_collate", &collate, map, root, element, all, owned);
}

}  // extern "C"

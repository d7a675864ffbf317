// Making and asking index maps.
#include "maps.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/localize.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

std::span<const global_index> span_of(const int64_t* values, int64_t count) { return {values, static_cast<std::size_t>(count)}; }

std::vector<global_index> vector_of(const int64_t* values, int64_t count) { return {values, values + count}; }

template <class T>
void put(T* place, T value) {
    if (place != nullptr) *place = value;
}

void require_keys(const IndexMap& map, const PartitionKeys& read, int64_t capacity, const int64_t* keys) {
    const auto count = static_cast<int64_t>(read.keys.size());
    if (count != int64_t{map.owned()} * read.per_id)
        throw Error("the part of this rank has keys for " + std::to_string(count / read.per_id) + " ids and the map " +
                    std::to_string(map.owned()) + " owned ones: pass the file that the map was read from");
    if (keys != nullptr && capacity < count)
        throw Error("keys has room for " + std::to_string(capacity) + " numbers and there are " + std::to_string(count) +
                    ": make it larger; without it per_id alone is told");
}

}  // namespace

extern "C" {

int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids, const phl_exchange_options* options,
                         phl_index_map* map) {
    return make_map(
        comm, "phl_index_map_create", options, map, [&](const Communicator&) { require_array(ghost_ids, ghosts, "ghost_ids"); },
        [&](const Communicator& own) { return IndexedDomain(owned, vector_of(ghost_ids, ghosts), own); });
}

int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids, int64_t ghosts, const int64_t* ghost_ids,
                                  int self_ghosts, const phl_exchange_options* options, phl_index_map* map) {
    const auto check = [&](const Communicator&) {
        require_array(owned_ids, owned, "owned_ids");
        require_array(ghost_ids, ghosts, "ghost_ids");
    };
    return make_map(comm, "phl_index_map_create_with_ids", options, map, check, [&](const Communicator& own) {
        return IndexedDomain::with_owned_ids(vector_of(owned_ids, owned), vector_of(ghost_ids, ghosts), own,
                                             self_ghosts ? SelfGhosts::allowed : SelfGhosts::refused);
    });
}

int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned, const int64_t* ghost_counts,
                                   int64_t ghosts, const int64_t* ghost_ids, const phl_exchange_options* options, phl_index_map* map) {
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

int phl_index_map_read(MPI_Comm comm, const char* path, const phl_exchange_options* options, phl_index_map* map) {
    return read_map(comm, path, options, map);
}

int phl_index_map_read_keys(phl_index_map map, const char* path, int32_t* per_id, int64_t capacity, int64_t* keys) {
    return collective(
        map, "phl_index_map_read_keys", [&](const IndexMap&) { require_output(path, "path"); },
        [&](const IndexMap& m) {
            const PartitionKeys read = read_partition_keys(path, m.communicator());
            validate_together(m.communicator(), [&] { require_keys(m, read, capacity, keys); });
            put(per_id, int32_t{read.per_id});
            if (keys != nullptr) std::copy(read.keys.begin(), read.keys.end(), keys);
        });
}

int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells, const int32_t* ranks, phl_index_map* map) {
    const auto check = [&](const IndexMap&) {
        require_array(cells, count, "cells");
        require_array(ranks, count, "ranks");
    };
    return derive_map(owners, "phl_index_map_create_push", map, check, [&](const IndexMap& base) {
        const auto all = static_cast<std::size_t>(count);
        return IndexMap::push(base.domain(), {cells, all}, {ranks, all}).domain();
    });
}

int phl_index_map_create_ragged(phl_index_map rows, int64_t owned_rows, const int64_t* counts, phl_index_map* map) {
    return derive_map(
        rows, "phl_index_map_create_ragged", map, [&](const IndexMap&) { require_array(counts, owned_rows, "counts"); },
        [&](const IndexMap& base) { return ragged_domain(base, span_of(counts, owned_rows)); });
}

int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids) {
    return change_map(
        map, "phl_index_map_add_ghosts", [&](const IndexedDomain&) { require_array(ids, count, "ids"); },
        [&](const IndexedDomain& domain) { return with_added_ghosts(domain, span_of(ids, count)); });
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

int phl_index_map_free(phl_index_map* map) {
    return free_handle(map, "map", "an exchange of the map is under way: end it before the map is freed",
                       [](const IndexMapObject& each) { return each.map.under_way(); });
}

int phl_index_map_sizes(phl_index_map map, int32_t* owned, int32_t* ghosts, int64_t* global, int64_t* first) {
    return with(map, [&](const auto& object) {
        const IndexedDomain& domain = object->map.domain();
        put(owned, domain.owned());
        put(ghosts, domain.ghosts());
        put(global, domain.global_size());
        put(first, domain.first());
    });
}

int phl_index_map_ghosts(phl_index_map map, int64_t* ids, int32_t* owners) {
    return with(map, [&](const auto& object) {
        const IndexedDomain& domain = object->map.domain();
        if (ids != nullptr) std::copy(domain.ghost_ids().begin(), domain.ghost_ids().end(), ids);
        if (owners != nullptr) std::copy(domain.ghost_owners().begin(), domain.ghost_owners().end(), owners);
    });
}

int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks) {
    return guarded([&] {
        const auto all = neighbor_ranks(get(map)->map.pattern());
        put(count, static_cast<int32_t>(all.size()));
        if (ranks != nullptr && capacity > 0)
            std::copy_n(all.begin(), std::min<std::size_t>(all.size(), static_cast<std::size_t>(capacity)), ranks);
    });
}

int phl_index_map_traffic(phl_index_map map, int64_t* cells_sent_, int64_t* cells_received) {
    return with(map, [&](const auto& object) {
        int64_t received = 0;
        for (const Stage& stage : object->map.pattern().stages)
            for (const Link& link : stage)
                if (link.rank != object->map.communicator().rank()) received += link.receive_unique;
        put(cells_sent_, cells_sent(object->map.pattern()));
        put(cells_received, received);
    });
}

int phl_index_map_to_global(phl_index_map map, int64_t count, const int32_t* cells, int64_t* ids) {
    return with(map, [&](const auto& object) {
        require_array(cells, count, "cells");
        require_array(ids, count, "ids");
        std::transform(cells, cells + count, ids, [&](int32_t cell) { return object->map.domain().global_of(cell); });
    });
}

int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells) {
    return with(map, [&](const auto& object) {
        require_array(ids, count, "ids");
        require_array(cells, count, "cells");
        object->map.domain().local_of(span_of(ids, count), {cells, static_cast<std::size_t>(count)});
    });
}

int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks) {
    const auto check = [&](const IndexMap&) {
        require_array(ids, count, "ids");
        require_array(ranks, count, "ranks");
    };
    return collective(map, "phl_index_map_owners", check, [&](const IndexMap& m) {
        const auto owners = m.domain().owners_of(span_of(ids, count));
        std::copy(owners.begin(), owners.end(), ranks);
    });
}

}  // extern "C"

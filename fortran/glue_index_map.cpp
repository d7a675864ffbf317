// The index map behind the Fortran module: descriptors become pointers, ids lose one.
#include <algorithm>

#include "descriptors.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

using Ids = std::vector<global_index>;

int64_t size_of(const Ids& ids) { return static_cast<int64_t>(ids.size()); }

Ids plus(Ids ids, global_index shift) {
    for (auto& id : ids) id += shift;
    return ids;
}
Ids ids_from_zero(const CFI_cdesc_t& array, const char* name) {
    return plus(integers_of(array, name), -1);
}

void require_equal_cells(const phl_element& a, const phl_element& b) {
    if (a.scalar != b.scalar || a.bytes != b.bytes || a.components != b.components)
        throw Error(
            "the two arrays differ in type or in their first dimensions: only the last one may "
            "differ",
            ErrorKind::type);
}

void require_count(byte_count given, byte_count needed, const char* what) {
    if (given != needed)
        throw Error(std::string(what) + " has " + std::to_string(given) +
                    " cells in its last dimension and the map " + std::to_string(needed) +
                    ": make them equal");
}

// Compilers without a code for logicals of every kind pass them as "other".
phl_values values_from(const IndexMap& map, const CFI_cdesc_t& x, Array ghosts, int reduction) {
    phl_values values = cells_of(x, "the array");
    const bool bits = reduction == PHL_AND || reduction == PHL_OR;
    if (is_logical(x.type) && !bits && reduction != PHL_REPLACE && reduction < Reduction::user)
        throw Error("logicals are combined with and, or: use those, or integers", ErrorKind::type);
    require_count(
        values.owned.count, ghosts == nullptr ? map.size() : map.owned(),
        ghosts == nullptr ? "the array of owned cells and ghosts" : "the array of owned cells");
    if (ghosts != nullptr) {
        const phl_values others = cells_of(*ghosts, "the array of ghosts");
        require_equal_cells(values.element, others.element);
        require_count(others.owned.count, map.ghosts(), "the array of ghosts");
        values.ghosts = others.owned;
    }
    if (bits && x.type == CFI_type_other && values.element.bytes == 4)
        values.element.scalar = PHL_INT32;
    return values;
}

enum Call { forward, reverse, shared };
enum Phase { whole, begin_only, end_only };

int transfer(const char* name, decltype(phl_distribute) run, phl_index_map map, int root,
             const CFI_cdesc_t& all, const CFI_cdesc_t& x) {
    phl_values mine{}, everything{};
    const auto read = [&] {
        const IndexMap& m = get(map)->map;
        mine = cells_of(x, "the array of owned cells");
        if (mine.owned.count != m.size())
            require_count(mine.owned.count, m.owned(), "the array of owned cells");
        mine.owned.count = m.owned();
        if (m.communicator().rank() != root) return;
        everything = cells_of(all, "the array of all cells");
        require_equal_cells(mine.element, everything.element);
    };
    return read_and_call(map, name, nullptr, read, [&] {
        return run == phl_distribute ? run(map, root, mine.element, everything.owned, mine.owned)
                                     : run(map, root, mine.element, mine.owned, everything.owned);
    });
}

}  // namespace

extern "C" {

int phl_f_index_map_create(const int* comm, int owned, Array ghosts,
                           const phl_exchange_options* options, phl_index_map* map) {
    Ids ids;
    return read_and_call(
        comm, "index_map%init", options, [&] { ids = ids_from_zero(*ghosts, "ghosts"); },
        [&] {
            return phl_index_map_create(comm_from_fortran(*comm), owned, size_of(ids), ids.data(),
                                        options, map);
        });
}

int phl_f_index_map_create_with_ids(const int* comm, Array owned_ids, Array ghosts, int self_ghosts,
                                    const phl_exchange_options* options, phl_index_map* map) {
    Ids owned, ids;
    const auto read = [&] {
        owned = ids_from_zero(*owned_ids, "owned");
        ids = ids_from_zero(*ghosts, "ghosts");
    };
    return read_and_call(comm, "index_map%init", options, read, [&] {
        return phl_index_map_create_with_ids(comm_from_fortran(*comm), size_of(owned), owned.data(),
                                             size_of(ids), ids.data(), self_ghosts, options, map);
    });
}

int phl_f_index_map_create_from_root(const int* comm, int root, Array owned, Array counts,
                                     Array ghosts, const phl_exchange_options* options,
                                     phl_index_map* map) {
    Ids sizes, numbers, ids;
    const auto read = [&] {
        if (communicator_of(comm).rank() != root) return;
        sizes = integers_of(*owned, "owned");
        numbers = integers_of(*counts, "ghost_counts");
        ids = ids_from_zero(*ghosts, "ghosts");
        if (sizes.size() != numbers.size())
            throw Error("owned has " + std::to_string(sizes.size()) + " entries and ghost_counts " +
                        std::to_string(numbers.size()) + ": give one of each rank");
    };
    return read_and_call(comm, "index_map%init", options, read, [&] {
        return phl_index_map_create_from_root(comm_from_fortran(*comm), root, size_of(sizes),
                                              sizes.data(), numbers.data(), size_of(ids),
                                              ids.data(), options, map);
    });
}

int phl_f_index_map_create_ragged(phl_index_map rows, Array counts, phl_index_map* map) {
    Ids numbers;
    const auto read = [&] {
        const IndexMap& base = get(rows)->map;
        numbers = integers_of(*counts, "counts");
        if (size_of(numbers) == base.size())  // with those of ghost rows
            numbers.resize(static_cast<std::size_t>(base.owned()));
    };
    return read_and_call(rows, "index_map%init", nullptr, read, [&] {
        return phl_index_map_create_ragged(rows, size_of(numbers), numbers.data(), map);
    });
}

int phl_f_index_map_read(const int* comm, const char* path, const phl_exchange_options* options,
                         phl_index_map* map) {
    return guarded(
        [&] { require_status(phl_index_map_read(comm_from_fortran(*comm), path, options, map)); });
}

int phl_f_index_map_push(phl_index_map owners, Array cells, Array ranks, phl_index_map* map) {
    std::vector<int32_t> pushed, to;
    const auto read = [&] {
        const IndexMap& base = get(owners)->map;
        for (const global_index cell : integers_of(*cells, "cells")) {
            if (cell < 1 || cell > base.owned())
                throw Error("pushed cell " + std::to_string(cell) + " is not owned here: use 1 … " +
                            std::to_string(base.owned()));
            pushed.push_back(static_cast<int32_t>(cell - 1));
        }
        for (const global_index rank : integers_of(*ranks, "ranks")) {
            if (rank < 0 || rank >= base.communicator().size())  // an int may keep the low half
                throw Error("a cell is pushed to rank " + std::to_string(rank) +
                            ", which does not exist: use ranks from 0 to " +
                            std::to_string(base.communicator().size() - 1));
            to.push_back(static_cast<int32_t>(rank));
        }
        if (pushed.size() != to.size())
            throw Error("cells has " + std::to_string(pushed.size()) + " entries and ranks " +
                        std::to_string(to.size()) + ": name a rank for each cell");
    };
    return read_and_call(owners, "index_map%push", nullptr, read, [&] {
        return phl_index_map_create_push(owners, static_cast<int64_t>(to.size()), pushed.data(),
                                         to.data(), map);
    });
}

// The owned entries' ids with those of the ghost entries.
int phl_f_gather_ids(phl_index_map entries, Array ids, Array cells) {
    phl_values values{};
    const auto read = [&] {
        const IndexMap& map = get(entries)->map;
        auto all = integers_of(*ids, "ids");
        if (size_of(all) != map.owned())
            throw Error("the counts of the owned rows add up to " + std::to_string(map.owned()) +
                        " and there are " + std::to_string(all.size()) + " ids: make them equal");
        all.resize(static_cast<std::size_t>(map.size()));
        assign(*cells, all, "cells");
        values = values_from(map, *cells, nullptr, PHL_REPLACE);
    };
    return read_and_call(entries, "index_map%localize_ragged", nullptr, read,
                         [&] { return phl_map_forward(entries, &values, 1); });
}

// As in phl_index_map.fypp: arrays of owned cells and ghosts, or one with its ghosts apart.
int phl_f_map_call(phl_index_map map, int call, int phase, int reduction, Array a, Array b, Array c,
                   Array d, Array e, Array f, Array g, Array h, Array ghosts) {
    phl_values v[8];
    int n = 0;
    const int status = with(map, [&](const auto& object) {
        for (Array x : {a, b, c, d, e, f, g, h})
            if (x != nullptr) v[n++] = values_from(object.map, *x, ghosts, reduction);
    });
    if (status != PHL_SUCCESS) return status;
    switch (3 * call + phase) {
        case 3 * forward + whole: return phl_map_forward(map, v, n);
        case 3 * forward + begin_only: return phl_map_begin_forward(map, v, n);
        case 3 * forward + end_only: return phl_map_end_forward(map, v, n);
        case 3 * reverse + whole: return phl_map_reverse(map, reduction, v, n);
        case 3 * reverse + begin_only: return phl_map_begin_reverse(map, reduction, v, n);
        case 3 * reverse + end_only: return phl_map_end_reverse(map, v, n);
        case 3 * shared + whole: return phl_map_reduce_shared(map, reduction, v, n);
        case 3 * shared + begin_only: return phl_map_begin_reduce_shared(map, reduction, v, n);
        default: return phl_map_end_reduce_shared(map, v, n);
    }
}

int phl_f_distribute(phl_index_map map, int root, Array all, Array x) {
    return transfer("index_map%distribute", phl_distribute, map, root, *all, *x);
}
int phl_f_collate(phl_index_map map, int root, Array x, Array all) {
    return transfer("index_map%collate", phl_collate, map, root, *all, *x);
}

int phl_f_to_global(phl_index_map map, Array cells, Array ids) {
    return with(map, [&](const auto& object) {
        std::vector<int32_t> numbers;
        for (const global_index cell : integers_of(*cells, "cells")) {
            if (cell < 1 || cell > object.map.size())
                throw Error("local cell " + std::to_string(cell) + " does not exist: use 1 … " +
                            std::to_string(object.map.size()));
            numbers.push_back(static_cast<int32_t>(cell - 1));
        }
        Ids values(numbers.size());
        require_status(
            phl_index_map_to_global(map, size_of(values), numbers.data(), values.data()));
        assign(*ids, plus(std::move(values), 1), "ids");
    });
}

int phl_f_to_local(phl_index_map map, Array ids, Array cells) {
    return guarded([&] {
        const Ids values = ids_from_zero(*ids, "ids");
        std::vector<int32_t> numbers(values.size());
        require_status(phl_index_map_to_local(map, size_of(values), values.data(), numbers.data()));
        assign(*cells, plus({numbers.begin(), numbers.end()}, 1), "cells");
    });
}

int phl_f_owners(phl_index_map map, Array ids, Array ranks) {
    Ids values;
    std::vector<int32_t> owners;
    const auto read = [&] {
        values = ids_from_zero(*ids, "ids");
        assign(*ranks, values, "ranks");  // it fits
        owners.resize(values.size());
    };
    return read_and_call(map, "index_map%owners", nullptr, read, [&] {
        const int status = phl_index_map_owners(map, size_of(values), values.data(), owners.data());
        if (status == PHL_SUCCESS) assign(*ranks, {owners.begin(), owners.end()}, "ranks");
        return status;
    });
}

int phl_f_localize(phl_index_map map, Array ids, Array cells) {
    Ids values;
    std::vector<int32_t> numbers;
    const auto read = [&] {
        values = integers_of(*ids, "ids");
        assign(*cells, values, "cells");  // it fits
        const global_index last = get(map)->map.domain().global_size();
        for (const global_index id : values)
            if (id < 0 || id > last)
                throw Error("index " + std::to_string(id) + " is outside of 1 … " +
                            std::to_string(last) + " (0: none)");
        values = plus(std::move(values), -1);
        numbers.resize(values.size());
    };
    return read_and_call(map, "index_map%localize", nullptr, read, [&] {
        const int status =
            phl_index_map_localize(map, size_of(values), values.data(), numbers.data());
        if (status == PHL_SUCCESS)
            assign(*cells, plus({numbers.begin(), numbers.end()}, 1), "cells");
        return status;
    });
}

int phl_f_ghosts(phl_index_map map, Array ids, Array owners) {
    return with(map, [&](const auto& object) {
        const auto& wanted = object.map.domain().ghost_ids();
        const auto& from = object.map.domain().ghost_owners();
        if (ids) assign(*ids, plus({wanted.begin(), wanted.end()}, 1), "ids");
        if (owners) assign(*owners, {from.begin(), from.end()}, "owners");
    });
}

/* The last message; ids in it count from 0, Fortran's from 1. */
const char* phl_f_last_error(void) {
    thread_local std::string text;
    text = phl_last_error();
    if (text.find("global id") != std::string::npos) text += " (ids are counted from 0 here)";
    return text.c_str();
}

}  // extern "C"

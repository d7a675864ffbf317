// The index map behind the Fortran module: descriptors become pointers, ids lose one.
#include <algorithm>
#include <initializer_list>

#include "descriptors.hpp"
#include "parhelion/index_map/derive.hpp"

using namespace parhelion;
using namespace parhelion::c;
using namespace parhelion::fortran;

namespace {

std::vector<global_index> ids_from_zero(const CFI_cdesc_t& array, const char* name) {
    auto ids = integers_of(array, name);
    for (auto& id : ids) --id;
    return ids;
}

// An int would keep the low half of it, which may be a rank.
int rank_from(global_index given, const Communicator& comm) {
    if (given < 0 || given >= comm.size())
        throw Error("a cell is pushed to rank " + std::to_string(given) +
                    ", which does not exist: use ranks from 0 to " +
                    std::to_string(comm.size() - 1));
    return static_cast<int>(given);
}

void require_equal_cells(const Cells& a, const Cells& b) {
    if (!(a.kind.element == b.kind.element) || a.kind.logical != b.kind.logical ||
        a.components != b.components)
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

CellValues values_from(const IndexedDomain& domain, const CFI_cdesc_t& x,
                       const CFI_cdesc_t* ghosts) {
    const Cells cells = cells_of(x, "the array");
    CellValues values{cells.array, {}, cells.kind.element, cells.components};
    if (ghosts == nullptr) {
        require_count(cells.count, domain.size(), "the array of owned cells and ghosts");
        return values;
    }
    const Cells others = cells_of(*ghosts, "the array of ghosts");
    require_equal_cells(cells, others);
    require_count(cells.count, domain.owned(), "the array of owned cells");
    require_count(others.count, domain.ghosts(), "the array of ghosts");
    values.ghosts = others.array;
    return values;
}

// Compilers without a code for logicals of every kind pass them as "other".
CellValues combinable(CellValues values, const CFI_cdesc_t& x, Reduction reduction) {
    const bool bits = reduction == Reduction::bit_and || reduction == Reduction::bit_or;
    if (kind_of(x).logical && !bits && reduction.by() == nullptr && reduction != Reduction::replace)
        throw Error("logicals are combined with and, or: use those, or integers", ErrorKind::type);
    if (bits && values.element.scalar == Scalar::bytes && x.type == CFI_type_other &&
        values.element.size == 4)
        values.element.scalar = Scalar::int32;
    return values;
}

enum Call { forward, reverse, shared };
enum Phase { whole, begin_only, end_only };

void run(const IndexMap& map, int call, int phase, const CellArrays& arrays, const Reduction& how) {
    switch (3 * call + phase) {
        case 3 * forward + whole: return map.forward(arrays);
        case 3 * forward + begin_only: return map.begin_forward(arrays);
        case 3 * forward + end_only: return map.end_forward(arrays);
        case 3 * reverse + whole: return map.reverse(arrays, how);
        case 3 * reverse + begin_only: return map.begin_reverse(arrays, how);
        case 3 * reverse + end_only: return map.end_reverse(arrays);
        case 3 * shared + whole: return map.reduce_shared(arrays, how);
        case 3 * shared + begin_only: return map.begin_reduce_shared(arrays, how);
        default: return map.end_reduce_shared(arrays);
    }
}

int transfer(const char* call, Transfer run, phl_index_map map, int root, const CFI_cdesc_t& all,
             const CFI_cdesc_t& x) {
    Cells mine{}, everything{};
    const auto check = [&](const IndexMap& m) {
        mine = cells_of(x, "the array of owned cells");
        if (mine.count != m.size())
            require_count(mine.count, m.owned(), "the array of owned cells");
        if (m.communicator().rank() != root) return;
        everything = cells_of(all, "the array of all cells");
        require_equal_cells(mine, everything);
    };
    return collective(map, call, check, [&](const IndexMap& m) {
        const byte_count width = byte_count{mine.kind.element.size} * mine.components;
        run(m.domain(), root, everything.array, everything.count, mine.array, width);
    });
}

}  // namespace

extern "C" {

int phl_f_index_map_create(const int* comm, int owned, Array ghosts,
                           const phl_exchange_options* options, phl_index_map* map) {
    std::vector<global_index> ids;
    return make_map(
        FortranComm{*comm}, "index_map%init", options, map,
        [&](const Communicator&) { ids = ids_from_zero(*ghosts, "ghosts"); },
        [&](const Communicator& own) { return IndexedDomain(owned, std::move(ids), own); });
}

int phl_f_index_map_create_with_ids(const int* comm, Array owned_ids, Array ghosts, int self_ghosts,
                                    const phl_exchange_options* options, phl_index_map* map) {
    std::vector<global_index> owned, ids;
    const auto read = [&](const Communicator&) {
        owned = ids_from_zero(*owned_ids, "owned");
        ids = ids_from_zero(*ghosts, "ghosts");
    };
    return make_map(FortranComm{*comm}, "index_map%init", options, map, read,
                    [&](const Communicator& own) {
                        return IndexedDomain::with_owned_ids(
                            std::move(owned), std::move(ids), own,
                            self_ghosts != 0 ? SelfGhosts::allowed : SelfGhosts::refused);
                    });
}

int phl_f_index_map_create_from_root(const int* comm, int root, Array owned, Array counts,
                                     Array ghosts, const phl_exchange_options* options,
                                     phl_index_map* map) {
    std::vector<global_index> sizes, numbers, ids;
    const auto read = [&](const Communicator& own) {
        if (own.rank() != root) return;
        sizes = integers_of(*owned, "owned");
        numbers = integers_of(*counts, "ghost_counts");
        ids = ids_from_zero(*ghosts, "ghosts");
    };
    return make_map(FortranComm{*comm}, "index_map%init", options, map, read,
                    [&](const Communicator& own) {
                        return domain_from_root({sizes, numbers, ids}, root, own);
                    });
}

int phl_f_index_map_create_ragged(phl_index_map rows, Array counts, phl_index_map* map) {
    std::vector<global_index> numbers;
    const auto read = [&](const IndexMap& base) {
        numbers = integers_of(*counts, "counts");
        if (static_cast<local_index>(numbers.size()) == base.size())  // with those of ghost rows
            numbers.resize(static_cast<std::size_t>(base.owned()));
    };
    return derive_map(rows, "index_map%init", map, read,
                      [&](const IndexMap& base) { return ragged_domain(base, numbers); });
}

int phl_f_index_map_read(const int* comm, const char* path, const phl_exchange_options* options,
                         phl_index_map* map) {
    return make_map(
        FortranComm{*comm}, "index_map%read", options, map, [](const Communicator&) {},
        [&](const Communicator& own) { return read_domain(path, own); });
}

int phl_f_index_map_push(phl_index_map owners, Array cells, Array ranks, phl_index_map* map) {
    std::vector<local_index> pushed;
    std::vector<int> to;
    const auto read = [&](const IndexMap& base) {
        for (const global_index cell : integers_of(*cells, "cells")) {
            if (cell < 1 || cell > base.owned())
                throw Error("pushed cell " + std::to_string(cell) + " is not owned here: use 1 … " +
                            std::to_string(base.owned()));
            pushed.push_back(static_cast<local_index>(cell - 1));
        }
        for (const global_index rank : integers_of(*ranks, "ranks"))
            to.push_back(rank_from(rank, base.communicator()));
    };
    return derive_map(owners, "index_map%push", map, read, [&](const IndexMap& base) {
        return IndexMap::push(base.domain(), pushed, to).domain();
    });
}

// The owned entries' ids with those of the ghost entries.
int phl_f_gather_ids(phl_index_map entries, Array ids, Array cells) {
    const auto check = [&](const IndexMap& map) {
        auto values = integers_of(*ids, "ids");
        if (static_cast<local_index>(values.size()) != map.owned())
            throw Error("the counts of the owned rows add up to " + std::to_string(map.owned()) +
                        " and there are " + std::to_string(values.size()) +
                        " ids: make them equal");
        values.resize(static_cast<std::size_t>(map.size()));
        assign(*cells, values, "cells");
    };
    return collective(entries, "index_map%localize_ragged", check, [&](const IndexMap& map) {
        map.forward(values_from(map.domain(), *cells, nullptr));
    });
}

// As in phl_index_map.fypp: arrays of owned cells and ghosts, or one with its ghosts apart.
int phl_f_map_call(phl_index_map map, int call, int phase, int reduction, Array a, Array b, Array c,
                   Array d, Array e, Array f, Array g, Array h, Array ghosts) {
    return with(map, [&](auto& object) {
        const Reduction how = reduction_from(reduction);
        object.arrays.clear();
        for (Array x : {a, b, c, d, e, f, g, h})
            if (x != nullptr)
                object.arrays.push_back(
                    combinable(values_from(object.domain(), *x, ghosts), *x, how));
        run(object.map, call, phase, object.arrays, how);
    });
}

int phl_f_distribute(phl_index_map map, int root, Array all, Array x) {
    return transfer("index_map%distribute", &distribute, map, root, *all, *x);
}
int phl_f_collate(phl_index_map map, int root, Array x, Array all) {
    return transfer("index_map%collate", &collate, map, root, *all, *x);
}

int phl_f_to_global(phl_index_map map, Array cells, Array ids) {
    return with(map, [&](const auto& object) {
        const IndexedDomain& domain = object.domain();
        auto values = integers_of(*cells, "cells");
        for (auto& value : values) {
            if (value < 1 || value > domain.size())
                throw Error("local cell " + std::to_string(value) + " does not exist: use 1 … " +
                            std::to_string(domain.size()));
            value = domain.global_of(static_cast<local_index>(value - 1)) + 1;
        }
        assign(*ids, values, "ids");
    });
}

int phl_f_to_local(phl_index_map map, Array ids, Array cells) {
    return with(map, [&](const auto& object) {
        auto values = ids_from_zero(*ids, "ids");
        for (auto& value : values) value = object.domain().local_of(value) + 1;
        assign(*cells, values, "cells");
    });
}

int phl_f_owners(phl_index_map map, Array ids, Array ranks) {
    std::vector<global_index> values;
    const auto check = [&](const IndexMap&) {
        values = ids_from_zero(*ids, "ids");
        assign(*ranks, values, "ranks");  // it fits
    };
    return collective(map, "index_map%owners", check, [&](const IndexMap& m) {
        const auto owners = m.domain().owners_of(values);
        assign(*ranks, {owners.begin(), owners.end()}, "ranks");
    });
}

int phl_f_localize(phl_index_map map, Array ids, Array cells) {
    std::vector<global_index> values, wanted;
    const auto check = [&](const IndexedDomain& domain) {
        values = integers_of(*ids, "ids");
        assign(*cells, values, "cells");  // it fits
        for (global_index id : values) {
            if (id < 0 || id > domain.global_size())
                throw Error("index " + std::to_string(id) + " is outside of 1 … " +
                            std::to_string(domain.global_size()) + " (0: none)");
            if (id > 0) wanted.push_back(id - 1);
        }
    };
    return change_map(map, "index_map%localize", check, [&](const IndexedDomain& before) {
        IndexedDomain domain = with_added_ghosts(before, wanted);
        for (auto& id : values) id = id == 0 ? 0 : domain.local_of(id - 1) + 1;
        assign(*cells, values, "cells");
        return domain;
    });
}

int phl_f_ghosts(phl_index_map map, Array ids, Array owners) {
    return with(map, [&](const auto& object) {
        const auto& wanted = object.domain().ghost_ids();
        const auto& from = object.domain().ghost_owners();
        std::vector<global_index> numbers(wanted.begin(), wanted.end());
        for (auto& id : numbers) ++id;
        if (ids) assign(*ids, numbers, "ids");
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

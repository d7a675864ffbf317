// Exchanges of index maps with arrays that are named at each call.
#include "maps.hpp"
#include "parhelion/index_map/derive.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

int components_from(phl_element element) {
    if (element.components < 0) throw Error("a cell cannot have " + std::to_string(element.components) + " components");
    return element.components == 0 ? 1 : element.components;
}

byte_count width_of(phl_element element) { return byte_count{element_from(element).size} * components_from(element); }

CellArray array_from(const phl_cells& cells, byte_count width, const char* name) {
    if (cells.count > 0 && cells.first == nullptr)
        throw Error(std::string(name) + ".first is a null pointer: pass an array of " + std::to_string(cells.count) + " cells");
    return {static_cast<std::byte*>(cells.first), cells.stride == 0 ? width : cells.stride};
}

void require_cells(int64_t given, int64_t needed, const char* name) {
    if (given != needed)
        throw Error(std::string(name) + " has " + std::to_string(given) + " cells and the map needs " + std::to_string(needed) +
                    ": pass an array of that many cells");
}

// Of a map: which cells of the arrays belong together, the map finds out.
CellValues values_from(const IndexMap& map, const phl_values& given) {
    const byte_count width = width_of(given.element);
    CellValues values{array_from(given.owned, width, "owned"), {}, element_from(given.element), components_from(given.element)};
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
    return with(map, [&](const auto& object) {
        require_array(given, count, "arrays");
        object->arrays.clear();
        for (int i = 0; i < count; ++i) object->arrays.push_back(values_from(object->map, given[i]));
        work(object->map, CellArrays(object->arrays));
    });
}

using Transfer = void (*)(const IndexedDomain&, int, CellArray, global_index, CellArray, byte_count);

int transfer(const char* call, Transfer move, phl_index_map map, int root, phl_element element, const phl_cells& all,
             const phl_cells& owned) {
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
    return collective(map, call, check, [&](const IndexMap& m) { move(m.domain(), root, everything, count, mine, width); });
}

}  // namespace

#define PHL_MAP_CALL(name)                                                                                     \
    int phl_map_##name(phl_index_map map, const phl_values* arrays, int count) {                               \
        return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.name(all); }); \
    }
#define PHL_MAP_REDUCTION(name)                                                                                                            \
    int phl_map_##name(phl_index_map map, int reduction, const phl_values* arrays, int count) {                                            \
        return with_arrays(map, arrays, count, [&](const IndexMap& m, const CellArrays& all) { m.name(all, reduction_from(reduction)); }); \
    }

extern "C" {

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
#define PHL_ONE_REDUCTION(name, call)                                                                          \
    int phl_##name(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts, int reduction) { \
        const phl_values one{element, owned, ghosts};                                                          \
        return phl_map_##call(map, reduction, &one, 1);                                                        \
    }
PHL_ONE_ARRAY(gather, forward)
PHL_ONE_ARRAY(gather_begin, begin_forward)
PHL_ONE_ARRAY(gather_end, end_forward)
PHL_ONE_REDUCTION(scatter, reverse)
PHL_ONE_REDUCTION(scatter_begin, begin_reverse)
PHL_ONE_ARRAY(scatter_end, end_reverse)

int phl_distribute(phl_index_map map, int root, phl_element element, phl_cells all, phl_cells owned) {
    return transfer("phl_distribute", &distribute, map, root, element, all, owned);
}
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all) {
    return transfer("phl_collate", &collate, map, root, element, all, owned);
}

}  // extern "C"

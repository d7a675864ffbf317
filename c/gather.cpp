// Exchanges of index maps with arrays that are named at each call.
#include "objects.hpp"
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

int transfer(Transfer move, phl_index_map map, int root, phl_element element, const phl_cells& all, const phl_cells& owned) {
    return with(map, [&](const auto& object) {
        const IndexedDomain& domain = object->map.domain();
        const bool is_root = domain.communicator().rank() == root;
        CellArray everything, mine;
        byte_count width = 0;
        validate_together(domain.communicator(), [&] {
            width = width_of(element);
            require_cells(owned.count, domain.owned(), "the array of owned cells");
            mine = array_from(owned, width, "owned");
            if (is_root) everything = array_from(all, width, "all");
        });
        move(domain, root, everything, is_root ? all.count : 0, mine, width);
    });
}

}  // namespace

extern "C" {

int phl_map_forward(phl_index_map map, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.forward(all); });
}
int phl_map_begin_forward(phl_index_map map, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.begin_forward(all); });
}
int phl_map_end_forward(phl_index_map map, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.end_forward(all); });
}
int phl_map_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [&](const IndexMap& m, const CellArrays& all) { m.reverse(all, reduction_from(reduction)); });
}
int phl_map_begin_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count,
                       [&](const IndexMap& m, const CellArrays& all) { m.begin_reverse(all, reduction_from(reduction)); });
}
int phl_map_end_reverse(phl_index_map map, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.end_reverse(all); });
}

int phl_map_reduce_shared(phl_index_map map, int reduction, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count,
                       [&](const IndexMap& m, const CellArrays& all) { m.reduce_shared(all, reduction_from(reduction)); });
}
int phl_map_begin_reduce_shared(phl_index_map map, int reduction, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count,
                       [&](const IndexMap& m, const CellArrays& all) { m.begin_reduce_shared(all, reduction_from(reduction)); });
}
int phl_map_end_reduce_shared(phl_index_map map, const phl_values* arrays, int count) {
    return with_arrays(map, arrays, count, [](const IndexMap& m, const CellArrays& all) { m.end_reduce_shared(all); });
}

int phl_gather(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts) {
    const phl_values one{element, owned, ghosts};
    return phl_map_forward(map, &one, 1);
}
int phl_gather_begin(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts) {
    const phl_values one{element, owned, ghosts};
    return phl_map_begin_forward(map, &one, 1);
}
int phl_gather_end(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts) {
    const phl_values one{element, owned, ghosts};
    return phl_map_end_forward(map, &one, 1);
}
int phl_scatter(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts, int reduction) {
    const phl_values one{element, owned, ghosts};
    return phl_map_reverse(map, reduction, &one, 1);
}
int phl_scatter_begin(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts, int reduction) {
    const phl_values one{element, owned, ghosts};
    return phl_map_begin_reverse(map, reduction, &one, 1);
}
int phl_scatter_end(phl_index_map map, phl_element element, phl_cells owned, phl_cells ghosts) {
    const phl_values one{element, owned, ghosts};
    return phl_map_end_reverse(map, &one, 1);
}

int phl_distribute(phl_index_map map, int root, phl_element element, phl_cells all, phl_cells owned) {
    return transfer(&distribute, map, root, element, all, owned);
}
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all) {
    return transfer(&collate, map, root, element, all, owned);
}

}  // extern "C"

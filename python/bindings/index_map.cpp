#include "parhelion/index_map/index_map.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <deque>

#include "bindings.hpp"
#include "buffer.hpp"
#include "convert.hpp"
#include "parhelion/core/error.hpp"
#include "python_exchange.hpp"
#include "reduction.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

// What is no native number travels as bytes.
Element element_of_buffer(const Py_buffer& buffer) {
#define PARHELION_FORMAT(name, NAME, bytes, format) {Scalar::name, format},
    static constexpr std::pair<Scalar, const char*> known[] = {PHL_SCALARS(PARHELION_FORMAT)};
#undef PARHELION_FORMAT
    for (const auto& [scalar, format] : known)
        if (equal_format(format_of(buffer), format)) return {scalar, static_cast<std::int32_t>(buffer.itemsize)};
    return {Scalar::bytes, static_cast<std::int32_t>(buffer.itemsize)};
}

struct Seen {
    CellArray cells;
    Element element;
    int components = 1;
};

// Axes behind the first, of one cell, have to lie as in C.
Seen see(const Py_buffer& buffer, local_index cells, const std::string& name) {
    if (buffer.ndim < 1 || buffer.shape[0] != cells)
        throw Error(name + " has " + (buffer.ndim < 1 ? "no axis" : std::to_string(buffer.shape[0]) + " cells along its first axis") +
                    " and the map needs " + std::to_string(cells) + ": pass an array of that many");
    byte_count width = buffer.itemsize;
    for (int d = buffer.ndim - 1; d > 0; --d) {
        if (buffer.shape[d] > 1 && cells > 0 && buffer.strides[d] != width)
            throw Error("the components of a cell of " + name +
                        " do not lie next to each other: pass a copy in C order, or each "
                        "component alone");
        width *= buffer.shape[d];
    }
    if (width == 0) throw Error(name + " has no components: pass at least 1");
    return {{static_cast<std::byte*>(buffer.buf), buffer.strides[0]}, element_of_buffer(buffer), static_cast<int>(width / buffer.itemsize)};
}

// The arrays of a call, seen as long as this lives.
class SeenArrays {
public:
    SeenArrays(const IndexMap& map, const nb::tuple& given, nb::object as_array) : map_(map), as_array_(std::move(as_array)) {
        for (std::size_t i = 0; i < given.size(); ++i) add(given[i], "array " + std::to_string(i));
    }
    const std::vector<CellValues>& values() const { return values_; }

private:
    const Py_buffer& buffer_of(nb::handle object, const std::string& name) {
        if (const Buffer& shown = buffers_.emplace_back(object)) return *shown;
        kept_.append(as_array_(object, name));  // or raises
        const Buffer& shown = buffers_.emplace_back(kept_[kept_.size() - 1]);
        if (!shown) throw Error(name + " shows no memory: pass a NumPy array", ErrorKind::type);
        return *shown;
    }
    void add(nb::handle given, const std::string& name) {
        if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr())) {
            const Seen all = see(buffer_of(given, name), map_.size(), name);
            values_.emplace_back(all.cells, CellArray{}, all.element, all.components);
            return;
        }
        if (const auto parts = nb::len(given); parts != 2)
            throw Error(name + " has " + std::to_string(parts) + " parts: pass one array, or a pair of owned cells and ghosts");
        const Seen owned = see(buffer_of(nb::object(given[0]), "owned of " + name), map_.owned(), "owned of " + name);
        const Seen ghosts = see(buffer_of(nb::object(given[1]), "ghosts of " + name), map_.ghosts(), "ghosts of " + name);
        if (!(owned.element == ghosts.element) || owned.components != ghosts.components)
            throw Error("the parts of " + name + " differ in dtype or components: make them equal");
        values_.emplace_back(owned.cells, ghosts.cells, owned.element, owned.components);
    }

    const IndexMap& map_;
    nb::object as_array_;
    std::deque<Buffer> buffers_;
    nb::list kept_;
    std::vector<CellValues> values_;
};

// A map as Python holds it: used by one thread at a time, while others run.
struct PythonMap : IndexMap {
    using IndexMap::IndexMap;
    explicit PythonMap(IndexMap map) : IndexMap(std::move(map)) {}
    Guard guard;
};

template <class Work>
void with_arrays(PythonMap& map, const nb::tuple& given, const nb::object& as_array, Work&& work) {
    map.guard.require_free();
    const SeenArrays arrays(map, given, as_array);
    map.guard([&] { work(CellArrays(arrays.values())); });
}

void forward(PythonMap& map, const nb::tuple& given, const nb::object& as_array) {
    with_arrays(map, given, as_array, [&](const CellArrays& arrays) { map.forward(arrays); });
}

void reverse(PythonMap& map, nb::handle reduction, const nb::tuple& given, const nb::object& as_array) {
    const PassedReduction how(reduction);
    with_arrays(map, given, as_array, [&](const CellArrays& arrays) { map.reverse(arrays, how.reduction()); });
    how.rethrow();
}

void reduce_shared(PythonMap& map, nb::handle reduction, const nb::tuple& given, const nb::object& as_array) {
    const PassedReduction how(reduction);
    with_arrays(map, given, as_array, [&](const CellArrays& arrays) { map.reduce_shared(arrays, how.reduction()); });
    how.rethrow();
}

// A reduction of shared points, from its begin to its end. A map may have several under way.
class SharedSums final : public AnyExchange {
public:
    SharedSums(nb::handle map, nb::handle reduction, const nb::tuple& given, const nb::object& as_array)
        : AnyExchange(nb::borrow(map), &nb::inst_ptr<PythonMap>(map)->guard) {
        require_usable();
        const PythonMap& of = *nb::inst_ptr<PythonMap>(map);
        const auto seen = std::make_shared<SeenArrays>(of, given, as_array);
        held_.more = seen;
        start_combining(reduction, [&](Reduction how) {
            const CellArrays arrays(seen->values());
            of.begin_reduce_shared(arrays, how);
            return of.step(arrays);
        });
    }
};

PythonStep begin_reduce_shared(nb::handle_t<PythonMap> map, nb::handle reduction, const nb::tuple& given, const nb::object& as_array) {
    return {nb::borrow(map), std::make_shared<SharedSums>(map, reduction, given, as_array)};
}

std::string explain_shared(PythonMap& map, const nb::tuple& given, const nb::object& as_array) {
    std::string text;
    with_arrays(map, given, as_array, [&](const CellArrays& arrays) { text = map.explain_shared(arrays); });
    return text;
}

std::vector<local_index> to_cells(const Ids& ids) {
    std::vector<local_index> cells;
    for (std::size_t i = 0; i < ids.size(); ++i)  // what does not fit is no cell
        cells.push_back(ids.data()[i] > 2147483647 ? -1 : static_cast<local_index>(std::max<std::int64_t>(ids.data()[i], -1)));
    return cells;
}

PythonMap push(const IndexedDomain& owners, const Ids& cells, const Ids& ranks) {
    const auto which = to_cells(cells), where = to_cells(ranks);
    nb::gil_scoped_release unlocked;
    return PythonMap(IndexMap::push(owners, which, where));
}

}  // namespace

void bind_index_map(nb::module_& module) {
    nb::class_<IndexMap>(module, "AnyIndexMap");
    nb::class_<PythonMap, IndexMap>(module, "IndexMap")
        .def(
            "__init__", [](PythonMap* self, const IndexedDomain& domain) { new (self) PythonMap(domain); }, "domain"_a,
            nb::call_guard<nb::gil_scoped_release>())
        .def_static("push", &push, "owners"_a, "cells"_a, "ranks"_a)
        .def("forward", &forward, "arrays"_a, "as_array"_a)
        .def("reverse", &reverse, "reduction"_a, "arrays"_a, "as_array"_a,
             nb::sig("def reverse(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> None"))
        .def("reduce_shared", &reduce_shared, "reduction"_a, "arrays"_a, "as_array"_a,
             nb::sig("def reduce_shared(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> None"))
        .def("begin_reduce_shared", &begin_reduce_shared, "reduction"_a, "arrays"_a, "as_array"_a,
             nb::sig("def begin_reduce_shared(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> Step"))
        .def("explain_shared", &explain_shared, "arrays"_a, "as_array"_a)
        .def_prop_ro("domain", [](const PythonMap& map) { return IndexedDomain(map.domain()); })
        .def_prop_ro("pattern", [](const PythonMap& map) { return Pattern(map.pattern()); });
}

}  // namespace parhelion::python

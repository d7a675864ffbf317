// Index maps, and exchanges of the arrays that each call names.
#include "parhelion/index_map/index_map.hpp"

#include <deque>

#include "parhelion/index_map/derive.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

// What is no native number travels as bytes.
Element element_of(const Buffer& buffer) {
#define PARHELION_FORMAT(name, NAME, bytes, format) {Scalar::name, format},
    static constexpr std::pair<Scalar, const char*> known[] = {PHL_SCALARS(PARHELION_FORMAT)};
#undef PARHELION_FORMAT
    for (const auto& [scalar, format] : known)
        if (equal_format(buffer.format(), format))
            return {scalar, static_cast<std::int32_t>(buffer->itemsize)};
    return {Scalar::bytes, static_cast<std::int32_t>(buffer->itemsize)};
}

// The arrays of a call, seen as long as this lives.
class SeenArrays {
public:
    SeenArrays(const IndexMap& map, const nb::tuple& given, nb::object as_array)
        : map_(map), as_array_(std::move(as_array)) {
        for (std::size_t i = 0; i < given.size(); ++i) add(given[i], "array " + std::to_string(i));
    }
    const std::vector<CellValues>& values() const { return values_; }

private:
    // Axes behind the first, of one cell, have to lie as in C.
    CellValues see(nb::handle object, local_index cells, const std::string& name) {
        const Buffer& buffer = buffers_.emplace_back(object, name, as_array_, kept_);
        if (buffer->ndim < 1 || buffer->shape[0] != cells)
            throw Error(name + " has " +
                        (buffer->ndim < 1
                             ? "no axis"
                             : std::to_string(buffer->shape[0]) + " cells along its first axis") +
                        " and the map needs " + std::to_string(cells) +
                        ": pass an array of that many");
        byte_count width = buffer->itemsize;
        for (int d = buffer->ndim - 1; d > 0; width *= buffer->shape[d--])
            if (buffer->shape[d] > 1 && cells > 0 && buffer->strides[d] != width)
                throw Error("the components of a cell of " + name +
                            " do not lie next to each other: pass a copy in C order, or each "
                            "component alone");
        if (width == 0) throw Error(name + " has no components: pass at least 1");
        return {{buffer.start(), buffer->strides[0]},
                {},
                element_of(buffer),
                static_cast<int>(width / buffer->itemsize)};
    }
    void add(nb::handle given, const std::string& name) {
        if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr()))
            return values_.push_back(see(given, map_.size(), name));
        if (const auto parts = nb::len(given); parts != 2)
            throw Error(name + " has " + std::to_string(parts) +
                        " parts: pass one array, or a pair of owned cells and ghosts");
        CellValues owned = see(nb::object(given[0]), map_.owned(), "owned of " + name);
        const CellValues ghosts = see(nb::object(given[1]), map_.ghosts(), "ghosts of " + name);
        if (!(owned.element == ghosts.element) || owned.components != ghosts.components)
            throw Error("the parts of " + name + " differ in dtype or components: make them equal");
        owned.ghosts = ghosts.owned;
        values_.push_back(owned);
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

    template <class Work>
    void with_arrays(const nb::tuple& given, const nb::object& as_array, Work&& work) {
        guard.require_free();
        const SeenArrays arrays(*this, given, as_array);
        const Guard::Inside inside(guard);
        work(CellArrays(arrays.values()));
    }
};

void forward(PythonMap& map, const nb::tuple& given, const nb::object& as_array) {
    map.with_arrays(given, as_array, [&](const CellArrays& arrays) { map.forward(arrays); });
}

auto combining(void (IndexMap::*combine)(const CellArrays&, Reduction) const) {
    return [combine](PythonMap& map, AnyReduction reduction, const nb::tuple& given,
                     const nb::object& as_array) {
        const PassedReduction how(reduction);
        map.with_arrays(given, as_array,
                        [&](const CellArrays& arrays) { (map.*combine)(arrays, how.reduction()); });
        how.rethrow();
    };
}

// A reduction of shared points, from its begin to its end. A map may have several under way.
class SharedSums final : public AnyExchange {
public:
    SharedSums(nb::handle map, nb::handle reduction, const nb::tuple& given,
               const nb::object& as_array)
        : AnyExchange(nb::borrow(map), &nb::inst_ptr<PythonMap>(map)->guard) {
        require_usable();
        const PythonMap& of = *nb::inst_ptr<PythonMap>(map);
        const auto seen = std::make_shared<SeenArrays>(of, given, as_array);
        held_.more = seen;
        start(PassedReduction(reduction), {}, [&](Reduction how) {
            const CellArrays arrays(seen->values());
            of.begin_reduce_shared(arrays, how);
            return of.step(arrays);
        });
    }
};

PythonStep begin_reduce_shared(nb::handle_t<PythonMap> map, AnyReduction reduction,
                               const nb::tuple& given, const nb::object& as_array) {
    return {nb::borrow(map), std::make_shared<SharedSums>(map, reduction, given, as_array)};
}

std::string explain_shared(PythonMap& map, const nb::tuple& given, const nb::object& as_array) {
    std::string text;
    map.with_arrays(given, as_array,
                    [&](const CellArrays& arrays) { text = map.explain_shared(arrays); });
    return text;
}

std::vector<local_index> to_cells(const Ids& ids) {
    std::vector<local_index> cells;
    for (const std::int64_t id : span_of(ids))  // what does not fit is no cell
        cells.push_back(id > 2147483647 ? -1
                                        : static_cast<local_index>(std::max<std::int64_t>(id, -1)));
    return cells;
}

}  // namespace

void bind_index_map(nb::module_& module) {
    nb::class_<PythonMap>(module, "IndexMap")
        .def(nb::init<const IndexedDomain&>(), "domain"_a, Unlocked())
        .def_static(
            "push",
            [](const IndexedDomain& owners, const Ids& cells, const Ids& ranks) {
                return PythonMap(IndexMap::push(owners, to_cells(cells), to_cells(ranks)));
            },
            "owners"_a, "cells"_a, "ranks"_a, Unlocked())
        .def_static(
            "ragged",
            [](const PythonMap& rows, const Ids& counts) {
                return PythonMap(IndexMap(ragged_domain(rows, span_of(counts))));
            },
            "rows"_a, "counts"_a, Unlocked())
        .def("forward", &forward, "arrays"_a, "as_array"_a)
        .def("reverse", combining(&IndexMap::reverse), "reduction"_a, "arrays"_a, "as_array"_a)
        .def("reduce_shared", combining(&IndexMap::reduce_shared), "reduction"_a, "arrays"_a,
             "as_array"_a)
        .def("begin_reduce_shared", &begin_reduce_shared, "reduction"_a, "arrays"_a, "as_array"_a)
        .def("explain_shared", &explain_shared, "arrays"_a, "as_array"_a)
        .def_prop_ro("domain", [](const PythonMap& map) { return IndexedDomain(map.domain()); })
        .def_prop_ro("pattern", [](const PythonMap& map) { return Pattern(map.pattern()); });
}

}  // namespace parhelion::python

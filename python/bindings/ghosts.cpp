// Rows of owned cells and ghosts, as bytes, and their exchange.
#include <cstring>

#include "parhelion/ghosts/ghost_exchange.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

using Bytes = Given<std::uint8_t>;
using Sizes = Given<std::int32_t>;

RowKind parse_kind(const std::string& name) {
    if (name == "uniform") return RowKind::uniform;
    if (name == "padded") return RowKind::padded;
    if (name == "ragged") return RowKind::ragged;
    throw Error("unknown layout '" + name + "': use uniform, padded or ragged");
}

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

// Rows of these sizes take all entries. Throws Error otherwise.
void require_entries(const Sizes& sizes, const Bytes& entries, const RowLayout& layout) {
    const byte_count each = layout.entry_bytes(), given = static_cast<byte_count>(entries.size());
    byte_count needed = 0;
    for (const std::int32_t size : span_of(sizes)) needed += std::max(size, 0) * each;
    if (needed != given)
        throw Error("the row sizes add up to " + std::to_string(needed / each) + " entries and " +
                    std::to_string(given / each) + " were passed: make them equal");
}

GhostRows ragged(const IndexMap& map, const RowLayout& layout, const Sizes& sizes,
                 const Bytes& entries) {
    require_entries(sizes, entries, layout);
    return GhostRows(map, layout, {sizes.data(), sizes.size()},
                     reinterpret_cast<const std::byte*>(entries.data()));
}

std::vector<local_index> all_sizes(const GhostRows& rows) {
    std::vector<local_index> sizes;
    for (local_index row = 0; row < rows.map().size(); ++row) sizes.push_back(rows.row_size(row));
    return sizes;
}

std::vector<std::int64_t> all_starts(const GhostRows& rows) {
    std::vector<std::int64_t> first;
    for (const RowSpan& row : rows.spans()) first.push_back(row.first);
    return first;
}

void put_row(GhostRows& rows, local_index row, byte_count entries, const std::uint8_t* from) {
    rows.resize(row, entries);
    if (entries > 0)
        std::memcpy(rows.row(row), from,
                    static_cast<std::size_t>(entries * rows.layout().entry_bytes()));
}

void set_row(GhostRows& rows, local_index row, const Bytes& entries) {
    put_row(rows, row, static_cast<byte_count>(entries.size()) / rows.layout().entry_bytes(),
            entries.data());
}

// All owned rows at once, for rows under edit.
void set_all(GhostRows& rows, const Sizes& sizes, const Bytes& entries) {
    if (sizes.size() != static_cast<std::size_t>(rows.map().owned()))
        throw Error(std::to_string(sizes.size()) + " row sizes were passed for " +
                    std::to_string(rows.map().owned()) + " owned rows: give one size for each row");
    require_entries(sizes, entries, rows.layout());
    const std::uint8_t* next = entries.data();
    for (std::size_t row = 0; row < sizes.size();
         next += sizes.data()[row++] * rows.layout().entry_bytes())
        put_row(rows, static_cast<local_index>(row), sizes.data()[row], next);
}

void bind_rows(nb::module_& module) {
    nb::class_<RowLayout>(module, "RowLayout")
        .def(
            "__init__",
            [](RowLayout* self, const std::string& kind, const std::string& element, int components,
               local_index width, byte_count alignment) {
                new (self) RowLayout{parse_kind(kind), parse_element(element), components, width,
                                     alignment};
            },
            "kind"_a, "element"_a, "components"_a, "width"_a, "alignment"_a)
        .def("check", &check_layout)
        .def_prop_ro("stride", &RowLayout::stride);
    // Arrays over memory hold it: rows that must move notice that it is seen.
    nb::class_<GhostRows>(module, "GhostRows", "Rows of owned cells, then ghosts, as bytes.")
        .def(nb::init<IndexMap, RowLayout>(), "map"_a, "layout"_a)
        .def_static(
            "over",
            [](const IndexMap& map, const RowLayout& layout, std::uintptr_t owned,
               byte_count owned_stride, std::uintptr_t ghosts, byte_count ghost_stride) {
                return GhostRows(map, layout, {at(owned), owned_stride},
                                 {at(ghosts), ghost_stride});
            },
            "map"_a, "layout"_a, "owned"_a, "owned_stride"_a, "ghosts"_a, "ghost_stride"_a)
        .def_static("ragged", &ragged, "map"_a, "layout"_a, "sizes"_a, "entries"_a)
        .def("memory",
             [](const GhostRows& rows) {
                 return bytes_of(rows.memory().start, rows.memory().bytes);
             })
        .def("sizes_memory",
             [](const GhostRows& rows) {
                 return bytes_of(rows.sizes_memory().start, rows.sizes_memory().bytes);
             })
        .def("sizes", [](const GhostRows& rows) { return to_numpy(all_sizes(rows)); })
        .def("starts", [](const GhostRows& rows) { return to_numpy(all_starts(rows)); })
        .def("row_size", &GhostRows::row_size, "row"_a)
        .def(
            "row_start",
            [](const GhostRows& rows, local_index row) {
                return rows.row(row) - rows.memory().start.get();
            },
            "row"_a)
        .def("edit", &GhostRows::edit)
        .def("set_row", &set_row, "row"_a, "entries"_a)
        .def("set_all", &set_all, "sizes"_a, "entries"_a)
        .def(
            "edited_row",
            [](const GhostRows& rows, local_index row) {
                return nb::bytes(
                    rows.row(row),
                    static_cast<std::size_t>(rows.row_size(row) * rows.layout().entry_bytes()));
            },
            "row"_a)
        .def("compress", &GhostRows::compress, Unlocked())
        .def(
            "rebind",
            [](GhostRows& rows, std::uintptr_t owned, byte_count owned_stride,
               std::uintptr_t ghosts, byte_count ghost_stride) {
                rows.rebind({at(owned), owned_stride}, {at(ghosts), ghost_stride});
            },
            "owned"_a, "owned_stride"_a, "ghosts"_a, "ghost_stride"_a, Unlocked())
        .def_prop_ro("editing", &GhostRows::editing)
        .def_prop_ro("generation", &GhostRows::generation);
}

// A hook that is written in Python. The exchange's list keeps the function: the collector must see
// it.
std::function<void()> calling(nb::handle function) {
    if (function.is_none()) return {};
    return [function] {
        const nb::gil_scoped_acquire locked;
        function();
    };
}

class PythonGhostExchange final : public PythonExchangeOf<GhostExchange> {
public:
    PythonGhostExchange(std::vector<GhostRows> rows, const ExchangeOptions& options,
                        nb::object arrays)
        : PythonExchangeOf(std::move(arrays)) {
        held_.used = nb::list();
        const nb::gil_scoped_release released;
        make(std::move(rows), options);
    }
    void run_many(long times) {
        guarded([&] {
            for (long i = 0; i < times; ++i) (*exchange_)();
        });
    }
    void run() { run_many(1); }
    void begin() {
        start({}, {}, [&](Reduction) { return exchange_->begin(); });
    }
    void reverse(AnyReduction reduction) {
        combine(reduction, [&](Reduction how) { exchange_->reverse(how); });
    }
    void begin_reverse(AnyReduction reduction) {
        start(PassedReduction(reduction), {},
              [&](Reduction how) { return exchange_->begin_reverse(how); });
    }
    void refresh() {
        guarded([&] { exchange_->refresh(); });
    }
    void on_arrival(const nb::object& arrive, const nb::object& depart) {
        nb::cast<nb::list>(held_.used).append(nb::make_tuple(arrive, depart));
        exchange_->on_arrival(calling(arrive), calling(depart));
    }
};

}  // namespace

void bind_ghosts(nb::module_& module) {
    bind_rows(module);
    using Python = PythonGhostExchange;
    auto made = bind_begun<Python>(module, "GhostExchange");
    made.def(nb::init<std::vector<GhostRows>, const ExchangeOptions&, nb::object>(), "rows"_a,
             "options"_a, "arrays"_a)
        .def("__call__", &Python::run, "Fills every ghost row with its owner's: begin and end.")
        .def("begin", giving_step(&Python::begin),
             "Starts filling the ghosts and returns while messages travel.\n\n"
             "Until the step ends, owned rows must not be written and ghosts not touched.\n\n"
             "    with exchange.begin():\n"
             "        update_interior(u)")
        .def("reverse", &Python::reverse, "reduction"_a = "sum",
             "Combines every ghost row into its owner's: sum, prod, min, max, replace, bit_and, "
             "bit_or or a Reduction of the rows' "
             "elements.\n\n"
             "The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep "
             "their values. Padded rows are\n"
             "combined in all their room; their sizes stay, and their first reverse exchange is "
             "collective. TypeError where the\n"
             "elements cannot be combined so.")
        .def("begin_reverse", giving_step(&Python::begin_reverse), "reduction"_a = "sum",
             "Starts `reverse`. Until the step ends, owned rows that others hold as ghosts must "
             "not be touched and ghosts\n"
             "not be written.")
        .def("refresh", &Python::refresh,
             "Fetches the sizes of ragged ghost rows anew, and takes the arrays' memory as it is "
             "now. Collective.\n\n"
             "ValueError on every rank while an array is being edited, or when rows must move of "
             "which views exist.")
        .def("run_many", &Python::run_many, "times"_a,
             "So many exchanges without Python in between: what it saves is what Python costs.")
        .def("_on_arrival", &Python::on_arrival, "arrive"_a, "depart"_a.none())
        .def_prop_ro(
            "stale", [](const Python& self) { return self.exchange().stale(); },
            "Whether an array has moved or changed its row sizes since the last `refresh`.");
    bind_ways(made,
              [](const Python& self) -> const Exchange& { return self.exchange().exchange(); });
}

}  // namespace parhelion::python

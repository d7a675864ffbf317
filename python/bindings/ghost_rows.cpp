#include "parhelion/ghosts/ghost_rows.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>

#include "bindings.hpp"
#include "convert.hpp"
#include "parhelion/core/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>, nb::c_contig>;
using GivenBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sizes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The array holds the memory: rows that must move notice that it is seen.
Bytes view_of(const GhostRows::Memory& memory) {
    auto* holder = new std::shared_ptr<std::byte>(memory.start);
    nb::capsule owner(holder, [](void* pointer) noexcept { delete static_cast<std::shared_ptr<std::byte>*>(pointer); });
    return Bytes(holder->get(), {static_cast<std::size_t>(memory.bytes)}, owner);
}

RowKind parse_kind(const std::string& name) {
    if (name == "uniform") return RowKind::uniform;
    if (name == "padded") return RowKind::padded;
    if (name == "ragged") return RowKind::ragged;
    throw Error("unknown layout '" + name + "': use uniform, padded or ragged");
}

RowLayout layout_from(const std::string& kind, const std::string& element, int components, local_index width, byte_count alignment) {
    return {parse_kind(kind), parse_element(element), components, width, alignment};
}

GhostRows over(const IndexMap& map, const RowLayout& layout, std::uintptr_t owned, byte_count owned_stride, std::uintptr_t ghosts,
               byte_count ghost_stride) {
    return GhostRows(map, layout, {reinterpret_cast<std::byte*>(owned), owned_stride},
                     {reinterpret_cast<std::byte*>(ghosts), ghost_stride});
}

void rebind(GhostRows& rows, std::uintptr_t owned, byte_count owned_stride, std::uintptr_t ghosts, byte_count ghost_stride) {
    nb::gil_scoped_release unlocked;
    rows.rebind({reinterpret_cast<std::byte*>(owned), owned_stride}, {reinterpret_cast<std::byte*>(ghosts), ghost_stride});
}

GhostRows ragged(const IndexMap& map, const RowLayout& layout, const Sizes& sizes, const GivenBytes& entries) {
    byte_count needed = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) needed += std::max(sizes.data()[i], 0) * layout.entry_bytes();
    if (needed != static_cast<byte_count>(entries.size()))
        throw Error("the row sizes add up to " + std::to_string(needed / layout.entry_bytes()) + " entries and " +
                    std::to_string(static_cast<byte_count>(entries.size()) / layout.entry_bytes()) + " were passed: make them equal");
    return GhostRows(map, layout, {sizes.data(), sizes.size()}, reinterpret_cast<const std::byte*>(entries.data()));
}

std::vector<local_index> all_sizes(const GhostRows& rows) {
    std::vector<local_index> sizes;
    for (local_index row = 0; row < rows.map().size(); ++row) sizes.push_back(rows.row_size(row));
    return sizes;
}

std::vector<std::int64_t> starts(const GhostRows& rows) {
    std::vector<std::int64_t> first;
    for (const RowSpan& row : rows.spans()) first.push_back(row.first);
    return first;
}

void set_row(GhostRows& rows, local_index row, const GivenBytes& entries) {
    const byte_count entry = rows.layout().entry_bytes();
    rows.resize(row, static_cast<byte_count>(entries.size()) / entry);
    if (entries.size() > 0) std::memcpy(rows.row(row), entries.data(), entries.size());
}

// All owned rows at once, for rows under edit.
void set_all(GhostRows& rows, const Sizes& sizes, const GivenBytes& entries) {
    const byte_count entry = rows.layout().entry_bytes();
    byte_count needed = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) needed += std::max(sizes.data()[i], 0) * entry;
    if (sizes.size() != static_cast<std::size_t>(rows.map().owned()) || needed != static_cast<byte_count>(entries.size()))
        throw Error(std::to_string(sizes.size()) + " row sizes that add up to " + std::to_string(needed / entry) + " entries, and " +
                    std::to_string(static_cast<byte_count>(entries.size()) / entry) + " entries for " + std::to_string(rows.map().owned()) +
                    " owned rows: give one size for each row, and as many entries as they add up to");
    const std::uint8_t* next = entries.data();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto row = static_cast<local_index>(i);
        rows.resize(row, sizes.data()[i]);
        if (sizes.data()[i] > 0) std::memcpy(rows.row(row), next, static_cast<std::size_t>(sizes.data()[i] * entry));
        next += sizes.data()[i] * entry;
    }
}

nb::bytes edited_row(const GhostRows& rows, local_index row) {
    return nb::bytes(rows.row(row), static_cast<std::size_t>(rows.row_size(row) * rows.layout().entry_bytes()));
}

}  // namespace

void bind_ghost_rows(nb::module_& module) {
    nb::class_<RowLayout>(module, "RowLayout")
        .def(
            "__init__",
            [](RowLayout* self, const std::string& kind, const std::string& element, int components, local_index width,
               byte_count alignment) { new (self) RowLayout(layout_from(kind, element, components, width, alignment)); },
            "kind"_a, "element"_a, "components"_a, "width"_a, "alignment"_a)
        .def("check", &check_layout)
        .def_prop_ro("stride", &RowLayout::stride);
    nb::class_<GhostRows>(module, "GhostRows", "Rows of owned cells, then ghosts, as bytes.")
        .def(nb::init<IndexMap, RowLayout>(), "map"_a, "layout"_a)
        .def_static("over", &over, "map"_a, "layout"_a, "owned"_a, "owned_stride"_a, "ghosts"_a, "ghost_stride"_a)
        .def_static("ragged", &ragged, "map"_a, "layout"_a, "sizes"_a, "entries"_a)
        .def("memory", [](const GhostRows& rows) { return view_of(rows.memory()); })
        .def("sizes_memory", [](const GhostRows& rows) { return view_of(rows.sizes_memory()); })
        .def("sizes", [](const GhostRows& rows) { return to_numpy(all_sizes(rows)); })
        .def("starts", [](const GhostRows& rows) { return to_numpy(starts(rows)); })
        .def("row_size", &GhostRows::row_size, "row"_a)
        .def(
            "row_start", [](const GhostRows& rows, local_index row) { return rows.row(row) - rows.memory().start.get(); }, "row"_a)
        .def("edit", &GhostRows::edit)
        .def("set_row", &set_row, "row"_a, "entries"_a)
        .def("set_all", &set_all, "sizes"_a, "entries"_a)
        .def("edited_row", &edited_row, "row"_a)
        .def("compress", &GhostRows::compress, nb::call_guard<nb::gil_scoped_release>())
        .def("rebind", &rebind, "owned"_a, "owned_stride"_a, "ghosts"_a, "ghost_stride"_a)
        .def_prop_ro("editing", &GhostRows::editing)
        .def_prop_ro("generation", &GhostRows::generation);
}

}  // namespace parhelion::python

#include "parhelion/domain/indexed_domain.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "convert.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/localize.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

SelfGhosts rule(bool allowed) { return allowed ? SelfGhosts::allowed : SelfGhosts::refused; }

IndexedDomain from_block(const Communicator& comm, global_index owned, const Ids& ghosts, bool self_ghosts) {
    auto ids = to_vector(ghosts);
    nb::gil_scoped_release unlocked;
    return IndexedDomain(owned, std::move(ids), comm, rule(self_ghosts));
}

IndexedDomain from_owned_ids(const Communicator& comm, const Ids& owned_ids, const Ids& ghosts, bool self_ghosts) {
    auto owned = to_vector(owned_ids), wanted = to_vector(ghosts);
    nb::gil_scoped_release unlocked;
    return IndexedDomain::with_owned_ids(std::move(owned), std::move(wanted), comm, rule(self_ghosts));
}

// `function` of each id, without Python in the loop.
template <class Result, class Function>
NumpyVector<Result> map_ids(const Ids& ids, Function&& function) {
    std::vector<Result> result(ids.size());
    std::transform(ids.data(), ids.data() + ids.size(), result.begin(), function);
    return to_numpy(std::move(result));
}

global_index global_of(const IndexedDomain& domain, std::int64_t cell) {
    const bool exists = cell >= 0 && cell < domain.size();
    return domain.global_of(exists ? static_cast<local_index>(cell) : -1);
}

std::vector<int> owners_of(const IndexedDomain& domain, const Ids& ids) {
    const std::span<const global_index> all(ids.data(), ids.size());
    nb::gil_scoped_release unlocked;
    return domain.owners_of(all);
}

template <class T>
std::vector<T> copy(std::span<const T> values) {
    return {values.begin(), values.end()};
}

nb::tuple read_part(const std::string& folder, const Communicator& comm) {
    PartitionPart part;
    {
        nb::gil_scoped_release unlocked;
        part = read_partition(folder, comm);
    }
    return nb::make_tuple(part.owned, to_numpy(std::move(part.ghosts)));
}

nb::tuple read_keys(const std::string& path, const Communicator& comm) {
    PartitionKeys read;
    {
        nb::gil_scoped_release unlocked;
        read = read_partition_keys(path, comm);
    }
    return nb::make_tuple(read.per_id, to_numpy(std::move(read.keys)));
}

nb::tuple to_python(Localized made) { return nb::make_tuple(std::move(made.nodes), to_numpy(std::move(made.connectivity))); }

nb::tuple localize_with(const IndexedDomain& nodes, const Ids& ids) {
    const std::span<const global_index> all(ids.data(), ids.size());
    auto made = [&] {
        nb::gil_scoped_release unlocked;
        return localize(all, nodes);
    }();
    return to_python(std::move(made));
}

nb::tuple localize_alone(const Communicator& comm, const Ids& ids) {
    const std::span<const global_index> all(ids.data(), ids.size());
    auto made = [&] {
        nb::gil_scoped_release unlocked;
        return localize(all, comm);
    }();
    return to_python(std::move(made));
}

}  // namespace

void bind_indexed_domain(nb::module_& module) {
    using Domain = const IndexedDomain&;
    nb::class_<IndexedDomain>(module, "IndexedDomain")
        .def_static("from_block", &from_block, "comm"_a, "owned"_a, "ghosts"_a, "self_ghosts"_a)
        .def_static("from_owned_ids", &from_owned_ids, "comm"_a, "owned_ids"_a, "ghosts"_a, "self_ghosts"_a)
        .def_prop_ro("owned", &IndexedDomain::owned)
        .def_prop_ro("ghosts", &IndexedDomain::ghosts)
        .def_prop_ro("global_size", &IndexedDomain::global_size)
        .def_prop_ro("first", &IndexedDomain::first)
        .def("ghost_ids", [](Domain domain) { return to_numpy(copy(domain.ghost_ids())); })
        .def("ghost_owners", [](Domain domain) { return to_numpy(copy(domain.ghost_owners())); })
        .def(
            "global_of",
            [](Domain domain, const Ids& cells) {
                return map_ids<global_index>(cells, [&](std::int64_t cell) { return global_of(domain, cell); });
            },
            "cells"_a)
        .def(
            "local_of",
            [](Domain domain, const Ids& ids) {
                std::vector<local_index> cells(ids.size());
                domain.local_of({ids.data(), ids.size()}, cells);
                return to_numpy(std::move(cells));
            },
            "ids"_a)
        .def("owners_of", [](Domain domain, const Ids& ids) { return to_numpy(owners_of(domain, ids)); }, "ids"_a);
    module.def("localize", &localize_with, "nodes"_a, "ids"_a,
               nb::sig("def localize(nodes: IndexedDomain, ids: NDArray[numpy.int64]) -> tuple[IndexedDomain, NDArray[numpy.int32]]"));
    module.def("localize_alone", &localize_alone, "comm"_a, "ids"_a,
               nb::sig("def localize_alone(comm: Communicator, ids: NDArray[numpy.int64]) -> tuple[IndexedDomain, NDArray[numpy.int32]]"));
    module.def("read_partition", &read_part, "folder"_a, "comm"_a,
               nb::sig("def read_partition(folder: str, comm: Communicator) -> tuple[int, NDArray[numpy.int64]]"));
    module.def("read_partition_keys", &read_keys, "path"_a, "comm"_a,
               nb::sig("def read_partition_keys(path: str, comm: Communicator) -> tuple[int, NDArray[numpy.int64]]"));
}

}  // namespace parhelion::python

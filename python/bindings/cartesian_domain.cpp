#include "parhelion/domain/cartesian_domain.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "convert.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

CartesianOptions options_from(const std::vector<int>& lower, const std::vector<int>& upper, const std::vector<bool>& periodic,
                              std::vector<int> process_grid, std::vector<std::vector<global_index>> splits,
                              std::vector<int> blocks_per_rank, Neighbors neighbors, Algorithm algorithm, RankFill fill,
                              std::vector<int> ranks, bool owns_ends) {
    CartesianOptions options;
    options.halo = halo_from(lower, upper);
    for (std::size_t d = 0; d < periodic.size() && d < max_dimensions; ++d) options.periodic.along[d] = periodic[d];
    options.process_grid = std::move(process_grid);
    options.splits = std::move(splits);
    options.blocks_per_rank = std::move(blocks_per_rank);
    options.neighbors = neighbors;
    options.algorithm = algorithm;
    options.rank_order = ranks.empty() ? RankOrder(fill) : RankOrder(std::move(ranks));
    options.boundary = owns_ends ? Boundary::owned : Boundary::open;
    return options;
}

std::vector<std::vector<global_index>> starts(const CartesianDomain& domain) {
    std::vector<std::vector<global_index>> result;
    for (int d = 0; d < domain.dimensions(); ++d) result.push_back(domain.axis(d).starts);
    return result;
}

nb::list blocks(const CartesianDomain& domain) {
    nb::list result;
    for (const Block& block : domain.blocks()) result.append(box_to_python(block.owned, domain.dimensions()));
    return result;
}

nb::list held(const CartesianDomain& domain) {
    nb::list result;
    for (const Block& block : domain.blocks()) result.append(box_to_python(block.held, domain.dimensions()));
    return result;
}

nb::tuple periodic(const CartesianDomain& domain) {
    nb::list result;
    for (int d = 0; d < domain.dimensions(); ++d) result.append(domain.axis(d).periodic);
    return nb::tuple(result);
}

nb::list lowest(const CartesianDomain& domain) {
    nb::list result;
    for (const Block& block : domain.blocks()) {
        nb::list along;
        for (int d = 0; d < domain.dimensions(); ++d)
            along.append(!domain.axis(d).periodic && block.position[static_cast<std::size_t>(d)] == 0);
        result.append(nb::tuple(along));
    }
    return result;
}

void bind_options(nb::module_& module) {
    nb::enum_<Neighbors>(module, "Neighbors").value("full", Neighbors::full).value("faces", Neighbors::faces);
    nb::enum_<RankFill>(module, "RankFill")
        .value("last", RankFill::last_fastest)
        .value("first", RankFill::first_fastest)
        .value("communicator", RankFill::of_communicator);
    nb::enum_<Algorithm>(module, "Algorithm").value("standard", Algorithm::standard).value("staged", Algorithm::staged);
}

}  // namespace

void bind_cartesian_domain(nb::module_& module) {
    bind_options(module);
    nb::class_<CartesianDomain>(module, "CartesianDomain")
        .def(
            "__init__",
            [](CartesianDomain* self, const Communicator& comm, std::vector<global_index> extents, const std::vector<int>& lower,
               const std::vector<int>& upper, const std::vector<bool>& periodic, std::vector<int> process_grid,
               std::vector<std::vector<global_index>> splits, std::vector<int> blocks_per_rank, Neighbors neighbors, Algorithm algorithm,
               RankFill fill, std::vector<int> ranks, bool owns_ends) {
                new (self)
                    CartesianDomain(std::move(extents),
                                    options_from(lower, upper, periodic, std::move(process_grid), std::move(splits),
                                                 std::move(blocks_per_rank), neighbors, algorithm, fill, std::move(ranks), owns_ends),
                                    comm);
            },
            "comm"_a, "extents"_a, "lower"_a, "upper"_a, "periodic"_a, "process_grid"_a, "splits"_a, "blocks_per_rank"_a, "neighbors"_a,
            "algorithm"_a, "fill"_a, "ranks"_a, "owns_ends"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "staggered",
            [](const CartesianDomain& domain, const std::vector<int>& stagger) { return domain.staggered(stagger_from(stagger)); },
            "stagger"_a)
        .def_prop_ro("periodic", &periodic, nb::sig("def periodic(self, /) -> tuple[bool, ...]"))
        .def_prop_ro("lowest", &lowest, nb::sig("def lowest(self, /) -> list[tuple[bool, ...]]"),
                     "Per block of this rank, where it lies at the lower end of a dimension that is not periodic.")
        .def_prop_ro("process_grid", &CartesianDomain::process_grid)
        .def_prop_ro("starts", &starts, "Per dimension, the first cell of each block and the extent.")
        .def_prop_ro("blocks", &blocks, nb::sig("def blocks(self, /) -> list[tuple[tuple[int, ...], tuple[int, ...]]]"),
                     "Per block of this rank, the first and the past-the-end cell.")
        .def_prop_ro("held", &held, nb::sig("def held(self, /) -> list[tuple[tuple[int, ...], tuple[int, ...]]]"),
                     "Per block of this rank, the first and the past-the-end cell or point of an array without its halo.")
        .def("coordinates_of", &CartesianDomain::coordinates_of, "rank"_a);
    module.def(
        "choose_process_grid",
        [](int ranks, const std::vector<global_index>& extents, const std::vector<int>& lower, const std::vector<int>& upper) {
            return choose_process_grid(ranks, extents, halo_from(lower, upper));
        },
        "ranks"_a, "extents"_a, "lower"_a, "upper"_a);
}

}  // namespace parhelion::python

#include "parhelion/pattern/pattern.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "convert.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/domain/indexed_domain.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

nb::list boxes_to_python(const std::vector<BoxPiece>& pieces, int dimensions) {
    nb::list result;
    for (const BoxPiece& piece : pieces) result.append(nb::make_tuple(piece.block, box_to_python(piece.cells, dimensions)));
    return result;
}

nb::object selection_to_python(const Selection& selection, int dimensions) {
    if (dimensions == 0) return nb::cast(to_numpy(std::vector<local_index>(selection.cells)));
    return boxes_to_python(selection.boxes, dimensions);
}

nb::list stages_to_python(const Pattern& pattern) {
    nb::list stages;
    for (const Stage& stage : pattern.stages) {
        nb::list links;
        for (const Link& link : stage)
            links.append(nb::make_tuple(link.rank, selection_to_python(link.send, pattern.dimensions),
                                        selection_to_python(link.receive, pattern.dimensions)));
        stages.append(links);
    }
    return stages;
}

nb::list blocks_to_python(const Pattern& pattern) {
    nb::list blocks;
    for (const Box& box : pattern.blocks) blocks.append(box_to_python(box, pattern.dimensions));
    return blocks;
}

// What fields may have: without the points that the next block owns.
nb::tuple depth_to_python(const Pattern& pattern) {
    HaloWidth depth = pattern.halo;
    for (std::size_t d = 0; d < max_dimensions; ++d) depth.upper[d] -= pattern.stagger.along[d];
    return halo_to_python(depth, pattern.dimensions);
}

nb::tuple stagger_to_python(const Pattern& pattern) {
    nb::list along;
    for (std::size_t d = 0; d < static_cast<std::size_t>(pattern.dimensions); ++d) along.append(int{pattern.stagger.along[d]});
    return nb::tuple(along);
}

}  // namespace

void bind_pattern(nb::module_& module) {
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Pattern>(module, "Pattern")
        .def_ro("communicator", &Pattern::communicator)
        .def_ro("dimensions", &Pattern::dimensions)
        .def_ro("owned", &Pattern::owned)
        .def_ro("ghosts", &Pattern::ghosts)
        .def_prop_ro(
            "halo", [](const Pattern& pattern) { return halo_to_python(pattern.halo, pattern.dimensions); },
            nb::sig("def halo(self, /) -> tuple[tuple[int, int], ...]"))
        .def_prop_ro("depth", &depth_to_python, nb::sig("def depth(self, /) -> tuple[tuple[int, int], ...]"))
        .def_prop_ro("stagger", &stagger_to_python, nb::sig("def stagger(self, /) -> tuple[int, ...]"))
        .def_prop_ro("owns_ends", [](const Pattern& pattern) { return !(pattern.ends == HaloWidth(0)); })
        .def_prop_ro("blocks", &blocks_to_python, nb::sig("def blocks(self, /) -> list[tuple[tuple[int, ...], tuple[int, ...]]]"))
        .def("stages", &stages_to_python, nb::sig("def stages(self) -> list[list[tuple[int, typing.Any, typing.Any]]]"))
        .def("describe", &describe)
        .def("neighbor_ranks", &neighbor_ranks)
        .def("cells_sent", &cells_sent)
        .def("check_local", &check_local)
        .def("verify", &verify, Unlocked());
    module.def("build_pattern", nb::overload_cast<const CartesianDomain&>(&build_pattern), "domain"_a, Unlocked());
    module.def("build_pattern", nb::overload_cast<const IndexedDomain&>(&build_pattern), "domain"_a, Unlocked());
}

}  // namespace parhelion::python

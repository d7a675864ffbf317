// Communicators come over as Fortran handles: the one form that every MPI and every mpi4py have in common.
#include "parhelion/core/communicator.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "parhelion/core/agreement.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

std::vector<int> largest(const Communicator& comm, std::vector<int> values) {
    const auto count = static_cast<int>(values.size());
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_INT, MPI_MAX, comm.handle()), "MPI_Allreduce");
    return values;
}

}  // namespace

void bind_communicator(nb::module_& module) {
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Communicator>(module, "Communicator", "The library's own duplicate of a communicator.")
        .def("__init__",
             [](Communicator* self, int handle) { new (self) Communicator(comm_from_fortran(handle)); },
             "fortran_handle"_a, Unlocked(),
             "Collective the first time for a communicator (it duplicates), local afterwards.")
        .def_prop_ro("fortran_handle", [](const Communicator& comm) { return MPI_Comm_c2f(comm.handle()); },
                     "For mpi4py: MPI.Comm.f2py.")
        .def("next_tag", &Communicator::next_tag, "A tag that nothing else uses here. Local, the same on all ranks.")
        .def_prop_ro("rank", &Communicator::rank)
        .def_prop_ro("size", &Communicator::size)
        .def("agree",
             [](const Communicator& comm, const std::string& complaint, ErrorKind kind) { agree(comm, complaint, kind); },
             "complaint"_a, "kind"_a = ErrorKind::value, Unlocked(),
             "Collective. Raises the complaint of the lowest rank that has one, on every rank.")
        .def("largest", &largest, "values"_a, Unlocked(),
             "Collective, one reduction. Of each value the largest that a rank has; all pass as many.")
        .def("require_equal",
             [](const Communicator& comm, const std::string& what, const std::string& name, std::int64_t value,
                const std::string& remedy) {
                 require_equal(comm, what, [&](Properties& told) { told.add(name, value); }, remedy);
             },
             "what"_a, "name"_a, "value"_a, "remedy"_a, Unlocked(),
             "Collective. Raises ValueError on every rank, with a rank that differs, unless all have the same value.");
}

}  // namespace parhelion::python

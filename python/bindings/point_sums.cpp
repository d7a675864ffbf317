#include "parhelion/index_map/point_sums.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "parhelion/core/error.hpp"
#include "reduction.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

using Fields = std::vector<Field>;

// Used by one thread at a time, while others run.
struct PythonPointSums : PointSums {
    using PointSums::PointSums;
    bool busy = false;
    Reduction how = Reduction::sum;  // of what is under way

    template <class Work>
    void run(Work&& work) {
        if (busy) throw Error("another thread is using these sums: give each thread an object of its own");
        busy = true;
        try {
            nb::gil_scoped_release unlocked;
            work();
        } catch (...) {
            busy = false;
            throw;
        }
        busy = false;
    }
};

void make(PythonPointSums* self, const CartesianDomain& domain, const Fields& fields, const std::string& transport, double timeout_s) {
    new (self) PythonPointSums(domain, fields, ExchangeOptions{transport, timeout_s});
}

void reduce(PythonPointSums& self, nb::handle reduction, const Fields& fields) {
    const Reduction how = to_reduction(reduction);
    self.run([&] { self.reduce(how, fields); });
    rethrow(how);
}

void begin(PythonPointSums& self, nb::handle reduction, const Fields& fields) {
    const Reduction how = to_reduction(reduction);
    self.run([&] { self.begin(how, fields); });
    self.how = how;
}

void end(PythonPointSums& self) {
    self.run([&] { self.end(); });
    rethrow(self.how);
}

}  // namespace

void bind_point_sums(nb::module_& module) {
    nb::class_<PythonPointSums>(module, "PointSums")
        .def("__init__", &make, "domain"_a, "fields"_a, "transport"_a, "timeout_s"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("reduce", &reduce, "reduction"_a, "fields"_a,
             nb::sig("def reduce(self, reduction: str | Reduction, fields: Sequence[Field]) -> None"))
        .def("begin", &begin, "reduction"_a, "fields"_a,
             nb::sig("def begin(self, reduction: str | Reduction, fields: Sequence[Field]) -> None"))
        .def("end", &end)
        .def("explain", [](const PythonPointSums& self) { return self.explain(); });
}

}  // namespace parhelion::python

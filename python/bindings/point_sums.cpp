#include "parhelion/index_map/point_sums.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "python_exchange.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

// The arrays behind fields: of the construction as long as it lives, of a call until its end.
class PythonPointSums final : public PythonExchangeOf<PointSums> {
public:
    using Fields = std::vector<Field>;

    PythonPointSums(const CartesianDomain& domain, const Fields& fields, nb::object arrays, const std::string& transport, double timeout_s)
        : PythonExchangeOf(std::move(arrays)) {
        nb::gil_scoped_release unlocked;
        make(domain, fields, ExchangeOptions{transport, timeout_s});
    }
    void reduce(nb::handle reduction, const Fields& fields, const nb::object& /*arrays*/) {
        combine(reduction, [&](Reduction how) { exchange_->reduce(how, fields); });
    }
    void begin(nb::handle reduction, const Fields& fields, const nb::object& arrays) {
        start_combining(reduction, [&](Reduction how) { return exchange_->begin(how, fields); }, arrays);
    }
};
using Methods = ExchangeMethods<PythonPointSums>;

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Methods::traverse)}, {0, nullptr}};

}  // namespace

void bind_point_sums(nb::module_& module) {
    nb::class_<PythonPointSums>(module, "PointSums", nb::type_slots(slots))
        .def(nb::init<const CartesianDomain&, const PythonPointSums::Fields&, nb::object, const std::string&, double>(), "domain"_a,
             "fields"_a, "arrays"_a, "transport"_a, "timeout_s"_a)
        .def("_reduce_fields", &PythonPointSums::reduce, "reduction"_a, "fields"_a, "arrays"_a,
             nb::sig("def _reduce_fields(self, reduction: str | Reduction, fields: Sequence[Field], arrays: object) -> None"))
        .def(
            "_begin_fields",
            [](Methods::Self self, nb::handle reduction, const PythonPointSums::Fields& fields, const nb::object& arrays) {
                return Methods::of(self).begin(reduction, fields, arrays), Methods::step(self);
            },
            "reduction"_a, "fields"_a, "arrays"_a,
            nb::sig("def _begin_fields(self, reduction: str | Reduction, fields: Sequence[Field], arrays: object) -> Step"))
        .def("end", &PythonPointSums::end, "Waits for the other holders; afterwards the points have their values.")
        .def_prop_ro("under_way", &PythonPointSums::under_way, "Whether sums have begun and not ended.")
        .def(
            "explain", [](const PythonPointSums& self) { return self.exchange().explain(); },
            "How many points are shared, and what moves them.");
}

}  // namespace parhelion::python

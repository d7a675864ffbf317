#include "parhelion/exchange/exchange.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "parhelion/core/error.hpp"
#include "python_exchange.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

class PythonExchange final : public PythonExchangeOf<Exchange> {
public:
    PythonExchange(const Pattern& pattern, std::vector<Field> fields, const std::string& transport, double timeout_s,
                   nb::object arrays)
        : PythonExchangeOf(std::move(arrays)) {
        nb::gil_scoped_release unlocked;
        exchange_ = std::make_unique<Exchange>(pattern, std::move(fields), ExchangeOptions{transport, timeout_s});
    }
};
using Methods = ExchangeMethods<PythonExchange>;

Direction parse_direction(const std::string& name) {
    if (name == "forward") return Direction::forward;
    if (name == "reverse") return Direction::reverse;
    throw Error("unknown direction '" + name + "': use forward or reverse");
}

// Py_VISIT wants the names `visit` and `arg`.
int traverse_step(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<Step>(self)->owner.ptr());
    return 0;
}

PyType_Slot exchange_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Methods::traverse)}, {0, nullptr}};
PyType_Slot step_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_step)}, {0, nullptr}};

void bind_step(nb::module_& module) {
    nb::class_<Step>(module, "Step", nb::type_slots(step_slots), "An exchange under way, from `begin` to `end`.")
        .def("end", &Step::end, "Waits for the neighbors; afterwards the ghosts are filled. Once per step.")
        .def_prop_ro("ended", &Step::ended, "Whether the exchange has ended, here or by `Exchange.end`.")
        .def("__enter__", [](nb::handle_t<Step> self) { return nb::borrow(self); },
             nb::sig("def __enter__(self) -> Step"))
        .def("__exit__", [](const Step& step, nb::args) { if (!step.ended()) step.end(); },
             nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace

void bind_exchange(nb::module_& module) {
    bind_step(module);
    nb::class_<PythonExchange>(module, "Exchange", nb::type_slots(exchange_slots))
        .def(nb::init<const Pattern&, std::vector<Field>, const std::string&, double, nb::object>(), "pattern"_a,
             "fields"_a, "transport"_a, "timeout_s"_a, "arrays"_a)
        .def("__call__", &PythonExchange::run, "Fills every ghost with its owner's value: begin and end.")
        .def("begin", &Methods::begin,
             "Starts filling the ghosts and returns while messages travel.\n\n"
             "Until the step ends, owned cells must not be written and ghosts not touched.\n\n"
             "    with exchange.begin():\n"
             "        update_interior(u)")
        .def("reverse", &PythonExchange::reverse, "reduction"_a = "sum",
             "Combines every ghost's value into its owner's: sum, min, max, replace, bit_and or bit_or.\n\n"
             "The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values, except with the\n"
             "staged algorithm. TypeError where the elements cannot be combined so.")
        .def("begin_reverse", &Methods::begin_reverse, "reduction"_a = "sum",
             "Starts `reverse`. Until the step ends, owned cells that others hold as ghosts must not be touched and ghosts\n"
             "not be written.")
        .def("end", &PythonExchange::end, "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
        .def_prop_ro("under_way", &PythonExchange::under_way, "Whether it has begun and not ended.")
        .def_prop_ro("kept_alive", &PythonExchange::arrays, nb::sig("def kept_alive(self, /) -> typing.Any"),
                     "What it keeps alive: the arrays as passed, and NumPy's views of them.")
        .def_prop_ro("transport", [](const PythonExchange& self) { return self.exchange().transport(); },
                     "Name of what moves the data, such as 'mpi_persistent' or 'shared+mpi_p2p'.")
        .def("explain", [](const PythonExchange& self) { return self.exchange().explain(); },
             "What was chosen for which neighbor and why, in a few lines.")
        .def("bytes_sent",
             [](const PythonExchange& self, const std::string& direction) {
                 return self.exchange().plan().bytes_sent(parse_direction(direction));
             }, "direction"_a = "forward", "Bytes that this rank sends to other ranks in one exchange. Local.")
        .def("messages_sent",
             [](const PythonExchange& self, const std::string& direction) {
                 return self.exchange().plan().messages_sent(parse_direction(direction));
             }, "direction"_a = "forward", "Messages that this rank sends to other ranks in one exchange. Local.");
}

}  // namespace parhelion::python

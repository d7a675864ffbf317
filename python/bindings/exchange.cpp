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
    PythonExchange(const Pattern& pattern, std::vector<Field> fields, const std::string& transport, double timeout_s, int parts,
                   nb::object arrays)
        : PythonExchangeOf(std::move(arrays)) {
        nb::gil_scoped_release unlocked;
        ExchangeOptions options{transport, timeout_s};
        options.parts = parts;
        exchange_ = std::make_unique<Exchange>(pattern, std::move(fields), options);
    }
    nb::tuple part(int number, int block) const {
        const PartOfBlock part = exchange_->part(number, block);
        return nb::make_tuple(part.dimension, part.first, part.last);
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
        .def("ready", &Step::ready, "part"_a,
             "The owned cells of this part have their values: they may leave. Once for each part, from any thread.\n\n"
             "For steps of `Exchange.begin_parts`. ValueError for a part that there is not, or that was told before.")
        .def("__enter__", [](nb::handle_t<Step> self) { return nb::borrow(self); },
             nb::sig("def __enter__(self) -> Step"))
        .def("__exit__", [](const Step& step, nb::args) { if (!step.ended()) step.end(); },
             nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace

void bind_exchange(nb::module_& module) {
    bind_step(module);
    nb::class_<PythonExchange>(module, "Exchange", nb::type_slots(exchange_slots))
        .def(nb::init<const Pattern&, std::vector<Field>, const std::string&, double, int, nb::object>(), "pattern"_a,
             "fields"_a, "transport"_a, "timeout_s"_a, "parts"_a, "arrays"_a)
        .def("__call__", &PythonExchange::run, "Fills every ghost with its owner's value: begin and end.")
        .def("begin", &Methods::begin,
             "Starts filling the ghosts and returns while messages travel.\n\n"
             "Until the step ends, owned cells must not be written and ghosts not touched.\n\n"
             "    with exchange.begin():\n"
             "        update_interior(u)")
        .def("begin_parts", &Methods::begin_parts,
             "Starts filling the ghosts for threads that finish their cells at different times.\n\n"
             "Each tells its part by `step.ready(part)` once, when the part's owned cells have their values; the end of the step\n"
             "takes the others for ready. Over mpi_partitioned a part leaves then, over other transports when all are ready.\n"
             "Until the step ends, cells of parts that are ready must not be written and ghosts not touched.\n\n"
             "    with exchange.begin_parts() as step, ThreadPoolExecutor() as threads:\n"
             "        threads.map(lambda p: (update(u.owned[exchange.part(p)]), step.ready(p)), range(exchange.parts))")
        .def_prop_ro("parts", [](const PythonExchange& self) { return self.exchange().parts(); },
                     "Into how many parts the owned cells are divided.")
        .def("_part", &PythonExchange::part, "part"_a, "block"_a, nb::sig("def _part(self, part: int, block: int) -> tuple[int, int, int]"))
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

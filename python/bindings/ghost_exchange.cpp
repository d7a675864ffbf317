#include "parhelion/ghosts/ghost_exchange.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "python_exchange.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

// A hook that is written in Python. The exchange's list keeps the function: the collector must see it.
std::function<void()> calling(nb::handle function) {
    return [function] {
        nb::gil_scoped_acquire locked;
        function();
    };
}

class PythonGhostExchange final : public PythonExchangeOf<GhostExchange> {
public:
    PythonGhostExchange(std::vector<GhostRows> rows, const std::string& transport, double timeout_s, const nb::object& arrays)
        : PythonExchangeOf(nb::make_tuple(arrays, nb::list())) {
        nb::gil_scoped_release unlocked;
        make(std::move(rows), ExchangeOptions{transport, timeout_s});
    }
    void run() {
        guarded([&] { (*exchange_)(); });
    }
    void begin() {
        start([&] { return exchange_->begin(); });
    }
    void reverse(nb::handle reduction) {
        combine(reduction, [&](Reduction how) { exchange_->reverse(how); });
    }
    void begin_reverse(nb::handle reduction) {
        start_combining(reduction, [&](Reduction how) { return exchange_->begin_reverse(how); });
    }
    void refresh() {
        guarded([&] { exchange_->refresh(); });
    }
    void run_many(long times) {
        guarded([&] {
            for (long i = 0; i < times; ++i) (*exchange_)();
        });
    }
    void on_arrival(const nb::object& arrive, const nb::object& depart) {
        nb::cast<nb::list>(arrays()[1]).append(nb::make_tuple(arrive, depart));
        exchange_->on_arrival(calling(arrive), depart.is_none() ? std::function<void()>() : calling(depart));
    }
};
using GhostMethods = ExchangeMethods<PythonGhostExchange>;

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(GhostMethods::traverse)}, {0, nullptr}};

const Exchange& inner(const PythonGhostExchange& self) { return self.exchange().exchange(); }

}  // namespace

void bind_ghost_exchange(nb::module_& module) {
    nb::class_<PythonGhostExchange>(module, "GhostExchange", nb::type_slots(slots))
        .def(nb::init<std::vector<GhostRows>, const std::string&, double, const nb::object&>(), "rows"_a, "transport"_a, "timeout_s"_a,
             "arrays"_a)
        .def("__call__", &PythonGhostExchange::run, "Fills every ghost row with its owner's: begin and end.")
        .def("begin", &GhostMethods::begin,
             "Starts filling the ghosts and returns while messages travel.\n\n"
             "Until the step ends, owned rows must not be written and ghosts not touched.\n\n"
             "    with exchange.begin():\n"
             "        update_interior(u)")
        .def("reverse", &PythonGhostExchange::reverse, "reduction"_a = "sum",
             nb::sig("def reverse(self, reduction: str | Reduction = 'sum') -> None"),
             "Combines every ghost row into its owner's: sum, prod, min, max, replace, bit_and, bit_or or a Reduction of the rows' "
             "elements.\n\n"
             "The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values. Padded rows are\n"
             "combined in all their room; their sizes stay, and their first reverse exchange is collective. TypeError where the\n"
             "elements cannot be combined so.")
        .def("begin_reverse", &GhostMethods::begin_reverse, "reduction"_a = "sum",
             nb::sig("def begin_reverse(self, reduction: str | Reduction = 'sum') -> Step"),
             "Starts `reverse`. Until the step ends, owned rows that others hold as ghosts must not be touched and ghosts\n"
             "not be written.")
        .def("end", &PythonGhostExchange::end, "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
        .def("refresh", &PythonGhostExchange::refresh,
             "Fetches the sizes of ragged ghost rows anew, and takes the arrays' memory as it is now. Collective.\n\n"
             "ValueError on every rank while an array is being edited, or when rows must move of which views exist.")
        .def("run_many", &PythonGhostExchange::run_many, "times"_a,
             "So many exchanges without Python in between: what it saves is what Python costs.")
        .def("_on_arrival", &PythonGhostExchange::on_arrival, "arrive"_a, "depart"_a.none())
        .def_prop_ro("under_way", &PythonGhostExchange::under_way, "Whether it has begun and not ended.")
        .def_prop_ro(
            "stale", [](const PythonGhostExchange& self) { return self.exchange().stale(); },
            "Whether an array has moved or changed its row sizes since the last `refresh`.")
        .def_prop_ro(
            "kept_alive", [](const PythonGhostExchange& self) { return nb::object(self.arrays()[0]); },
            nb::sig("def kept_alive(self, /) -> typing.Any"), "What it keeps alive: the arrays as passed.")
        .def_prop_ro(
            "transport", [](const PythonGhostExchange& self) { return inner(self).transport(); },
            "Name of what moves the rows, such as 'shared' or 'mpi'.")
        .def(
            "explain", [](const PythonGhostExchange& self) { return inner(self).explain(); },
            "What was chosen for which neighbor and why, in a few lines.")
        .def(
            "bytes_sent", [](const PythonGhostExchange& self) { return inner(self).plan().bytes_sent(); },
            "Bytes that this rank sends to other ranks in one exchange. Local.")
        .def(
            "messages_sent", [](const PythonGhostExchange& self) { return inner(self).plan().messages_sent(); },
            "Messages that this rank sends to other ranks in one exchange. Local.");
}

}  // namespace parhelion::python

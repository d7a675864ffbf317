#include "parhelion/exchange/exchange.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "call_arrays.hpp"
#include "convert.hpp"
#include "parhelion/core/error.hpp"
#include "python_exchange.hpp"
#include "reduction.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

class PythonExchange final : public PythonExchangeOf<Exchange> {
public:
    using PythonGroup = std::pair<std::variant<Pattern, CartesianDomain>, std::vector<Field>>;

    PythonExchange(std::vector<PythonGroup> given, const std::string& transport, double timeout_s, bool check, bool overlap, bool at_once,
                   nb::object arrays, const nb::list& call_arrays, nb::object as_array)
        : PythonExchangeOf(std::move(arrays)), call_arrays_(call_arrays, std::move(as_array)) {
        nb::gil_scoped_release unlocked;
        std::vector<Group> groups;
        for (auto& [source, fields] : given)
            groups.push_back(std::visit([&](auto& each) { return Group(std::move(each), std::move(fields)); }, source));
        ExchangeOptions options{transport, timeout_s};
        options.check = check;
        options.overlap = overlap;
        options.at_once = at_once;
        make(std::move(groups), options);
    }
    // A subset of another exchange, and where its arrays are among those of a call.
    PythonExchange(const PythonExchange& whole, const std::vector<int>& fields, const std::vector<int>& lower,
                   const std::vector<int>& upper, nb::object arrays, const nb::list& call_arrays, nb::object as_array)
        : PythonExchangeOf(std::move(arrays)), call_arrays_(call_arrays, std::move(as_array)) {
        Only only{.fields = fields};
        if (!lower.empty()) {
            only.depth = halo_from(lower, upper);
            only.depth.listed = static_cast<int>(lower.size());
        }
        make(whole.exchange_->only(only));
    }
    void prepare() {
        guarded([&] { exchange_->prepare(); });
    }
    void retune(const nb::args& arrays) {
        const ArrayList list = read(arrays);
        guarded([&] { exchange_->retune(list); });
    }
    void run(const nb::args& arrays) {
        const ArrayList list = read(arrays);
        guarded([&] { (*exchange_)(list); });
    }
    void reverse(nb::handle reduction, const nb::args& arrays) {
        const ArrayList list = read(arrays);
        combine(reduction, [&](Reduction how) { exchange_->reverse(how, list); });
    }
    void begin(const nb::args& arrays) {
        const ArrayList list = read(arrays);
        start([&] { return exchange_->begin(list); }, used_by(arrays));
    }
    void begin_reverse(nb::handle reduction, const nb::args& arrays) {
        const ArrayList list = read(arrays);
        start_combining(reduction, [&](Reduction how) { return exchange_->begin_reverse(how, list); }, used_by(arrays));
    }
    using Stale = std::tuple<int, int, std::vector<global_index>, int, std::string, std::string, std::string>;
    std::pair<std::vector<global_index>, std::vector<Stale>> stale(const nb::args& arrays) {
        const ArrayList list = read(arrays);
        StaleGhosts found;
        guarded([&] { found = exchange_->stale(list); });
        std::vector<Stale> first;
        for (const StaleGhost& each : found.first)
            first.emplace_back(each.field, each.owner, each.cell, each.component, each.here, each.there, each.text);
        return {std::move(found.count), std::move(first)};
    }
    void check(const nb::args& arrays) {
        const ArrayList list = read(arrays);
        guarded([&] { exchange_->check(list); });
    }

private:
    ArrayList read(const nb::args& arrays) {
        require_usable();
        return arrays.size() == 0 ? ArrayList() : ArrayList(call_arrays_.places(arrays));
    }
    // Arrays that were named stay until others are, though nobody else may have them.
    nb::object used_by(const nb::args& arrays) const {
        return arrays.size() == 0 ? nb::object() : nb::object(nb::make_tuple(arrays, call_arrays_.made()));
    }
    CallArrays call_arrays_;
};
using Methods = ExchangeMethods<PythonExchange>;
using Self = Methods::Self;

Direction parse_direction(const std::string& name) {
    if (name == "forward") return Direction::forward;
    if (name == "reverse") return Direction::reverse;
    throw Error("unknown direction '" + name + "': use forward or reverse");
}

// Py_VISIT wants the names `visit` and `arg`.
int traverse_step(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<PythonStep>(self)->owner.ptr());
    return 0;
}

PyType_Slot exchange_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Methods::traverse)}, {0, nullptr}};
PyType_Slot step_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_step)}, {0, nullptr}};

void bind_step(nb::module_& module) {
    nb::class_<PythonStep>(module, "Step", nb::type_slots(step_slots), "An exchange under way, from `begin` to `end`.")
        .def("end", &PythonStep::end, "Waits for the neighbors; afterwards the ghosts are filled. Once per step.")
        .def("test", &PythonStep::test,
             "Gets the exchange on, without waiting, and tells whether `end` will return, or raise, at once.\n\n"
             "To be called between pieces of work; `end` has to be called all the same. True for a step that has ended.")
        .def_prop_ro("ended", &PythonStep::ended, "Whether the exchange has ended, here or by `Exchange.end`.")
        .def(
            "__enter__", [](nb::handle_t<PythonStep> self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Step"))
        .def(
            "__exit__",
            [](const PythonStep& step, nb::args) {
                if (!step.ended()) step.end();
            },
            nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace

void bind_exchange(nb::module_& module) {
    bind_step(module);
    nb::class_<PythonExchange>(module, "Exchange", nb::type_slots(exchange_slots))
        .def(nb::init<std::vector<PythonExchange::PythonGroup>, const std::string&, double, bool, bool, bool, nb::object, const nb::list&,
                      nb::object>(),
             "groups"_a, "transport"_a, "timeout_s"_a, "check"_a, "overlap"_a, "at_once"_a, "arrays"_a, "call_arrays"_a, "as_array"_a)
        .def(nb::init<const PythonExchange&, const std::vector<int>&, const std::vector<int>&, const std::vector<int>&, nb::object,
                      const nb::list&, nb::object>(),
             "whole"_a, "fields"_a, "lower"_a, "upper"_a, "arrays"_a, "call_arrays"_a, "as_array"_a)
        .def("prepare", &PythonExchange::prepare,
             "Collective: what the first use of a subset would do, which makes its transports. Nothing where that is done.")
        .def("__call__", &PythonExchange::run, "arrays"_a, nb::sig("def __call__(self, *arrays: object) -> None"),
             "Fills every ghost with its owner's value: begin and end.\n\n"
             "`arrays`: others of the same shapes, strides and dtypes as those that it was made with, one for each, in that order,\n"
             "group after group: temporaries, swapped time levels, reallocated memory. Each rank names its own; nothing is sent for\n"
             "it. Without any, those that it was made with. ValueError or TypeError, of this rank alone, for arrays of another layout;\n"
             "then nothing has begun.")
        .def(
            "begin", [](Self self, const nb::args& arrays) { return Methods::of(self).begin(arrays), Methods::step(self); }, "arrays"_a,
            nb::sig("def begin(self, *arrays: object) -> Step"),
            "Starts filling the ghosts, of `arrays` as in a call, and returns while messages travel.\n\n"
            "Until the step ends, owned cells must not be written and ghosts not touched.\n\n"
            "    with exchange.begin():\n"
            "        update_interior(u)")
        .def("retune", &PythonExchange::retune, "arrays"_a, nb::sig("def retune(self, *arrays: object) -> None"),
             "Has `auto` choose the transport anew, for cores that have moved, or other work on the machine. Collective.\n\n"
             "`arrays` as in a call; their ghosts keep their values. Takes as long as construction. Subsets follow: their next use\n"
             "is collective. A transport that was asked for by name stays. ValueError while it, or a subset, is under way, and for\n"
             "a subset.")
        .def("_stale", &PythonExchange::stale, "arrays"_a,
             nb::sig("def _stale(self, *arrays: object) -> tuple[list[int], list[tuple[int, int, list[int], int, str, str, str]]]"))
        .def("check", &PythonExchange::check, "arrays"_a, nb::sig("def check(self, *arrays: object) -> None"),
             "Raises ValueError on every rank, with the first ghost of the lowest rank that has one which does not hold its owner's\n"
             "value, unless there is none. Collective; `arrays` as in a call, which it only reads. See `stale`.")
        .def("reverse", &PythonExchange::reverse, "reduction"_a = "sum", "arrays"_a,
             nb::sig("def reverse(self, reduction: str | Reduction = 'sum', *arrays: object) -> None"),
             "Combines every ghost's value into its owner's: sum, prod, min, max, replace, bit_and, bit_or, or a Reduction.\n\n"
             "The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values, except with the\n"
             "staged algorithm. TypeError where the elements cannot be combined so.\n\n"
             "    exchange.reverse(\"sum\", force)        # arrays behind the reduction, as in a call")
        .def(
            "begin_reverse",
            [](Self self, nb::handle reduction, const nb::args& arrays) {
                return Methods::of(self).begin_reverse(reduction, arrays), Methods::step(self);
            },
            "reduction"_a = "sum", "arrays"_a,
            nb::sig("def begin_reverse(self, reduction: str | Reduction = 'sum', *arrays: object) -> Step"),
            "Starts `reverse`. Until the step ends, owned cells that others hold as ghosts must not be touched and ghosts\n"
            "not be written.")
        .def("end", &PythonExchange::end, "Ends what `begin` or `begin_reverse` started; waits for the neighbors.")
        .def_prop_ro("under_way", &PythonExchange::under_way, "Whether it has begun and not ended.")
        .def_prop_ro("kept_alive", &PythonExchange::arrays, nb::sig("def kept_alive(self, /) -> typing.Any"),
                     "What it keeps alive: the arrays as passed, and NumPy's views of them.")
        .def_prop_ro(
            "transport", [](const PythonExchange& self) { return self.exchange().transport(); },
            "Name of what moves the data, such as 'mpi' or 'shared+mpi'.")
        .def(
            "explain", [](const PythonExchange& self) { return self.exchange().explain(); },
            "What was chosen for which neighbor and why, in a few lines.")
        .def(
            "bytes_sent",
            [](const PythonExchange& self, const std::string& direction) {
                return self.exchange().plan().bytes_sent(parse_direction(direction));
            },
            "direction"_a = "forward", "Bytes that this rank sends to other ranks in one exchange. Local.")
        .def(
            "messages_sent",
            [](const PythonExchange& self, const std::string& direction) {
                return self.exchange().plan().messages_sent(parse_direction(direction));
            },
            "direction"_a = "forward", "Messages that this rank sends to other ranks in one exchange. Local.");
}

}  // namespace parhelion::python

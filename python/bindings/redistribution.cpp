#include "parhelion/redistribution/redistribution.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "parhelion/core/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

using Pairs = std::vector<std::pair<Field, Field>>;

std::vector<Move> to_moves(const Pairs& pairs) {
    std::vector<Move> moves;
    for (const auto& [from, to] : pairs) moves.push_back({from, to});
    return moves;
}

// Used by one thread at a time, while others run.
struct PythonRedistribution : Redistribution {
    using Redistribution::Redistribution;
    bool busy = false;

    void move(const Pairs& pairs, bool forth) {
        if (busy) throw Error("another thread is using this redistribution: give each thread one of its own");
        const auto moves = to_moves(pairs);
        busy = true;
        try {
            nb::gil_scoped_release unlocked;
            forth ? forward(moves) : back(moves);
        } catch (...) {
            busy = false;
            throw;
        }
        busy = false;
    }
};

template <class Domain>
void make(PythonRedistribution* self, const Domain& from, const Domain& to, const std::string& transport, double timeout_s) {
    new (self) PythonRedistribution(from, to, ExchangeOptions{transport, timeout_s});
}

}  // namespace

void bind_redistribution(nb::module_& module) {
    nb::class_<PythonRedistribution>(module, "Redistribution")
        .def("__init__", &make<CartesianDomain>, "source"_a, "target"_a, "transport"_a, "timeout_s"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def("__init__", &make<IndexedDomain>, "source"_a, "target"_a, "transport"_a, "timeout_s"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def(
            "forward", [](PythonRedistribution& self, const Pairs& pairs) { self.move(pairs, true); }, "pairs"_a)
        .def(
            "back", [](PythonRedistribution& self, const Pairs& pairs) { self.move(pairs, false); }, "pairs"_a)
        .def("explain", [](const PythonRedistribution& self) { return self.explain(); });
}

}  // namespace parhelion::python

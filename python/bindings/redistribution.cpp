#include "parhelion/redistribution/redistribution.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "python_exchange.hpp"

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

class PythonRedistribution final : public PythonExchangeOf<Redistribution> {
public:
    template <class Domain>
    PythonRedistribution(const Domain& from, const Domain& to, const std::string& transport, double timeout_s)
        : PythonExchangeOf(nb::none()) {
        nb::gil_scoped_release unlocked;
        make(from, to, ExchangeOptions{transport, timeout_s});
    }
    // `arrays`: behind the pairs.
    void forward(const Pairs& pairs, const nb::object& /*arrays*/) {
        guarded([&] { exchange_->forward(to_moves(pairs)); });
    }
    void back(const Pairs& pairs, const nb::object& /*arrays*/) {
        guarded([&] { exchange_->back(to_moves(pairs)); });
    }
};

}  // namespace

void bind_redistribution(nb::module_& module) {
    using Grids = nb::init<const CartesianDomain&, const CartesianDomain&, const std::string&, double>;
    using Cells = nb::init<const IndexedDomain&, const IndexedDomain&, const std::string&, double>;
    nb::class_<PythonRedistribution>(module, "Redistribution")
        .def(Grids(), "source"_a, "target"_a, "transport"_a, "timeout_s"_a)
        .def(Cells(), "source"_a, "target"_a, "transport"_a, "timeout_s"_a)
        .def("forward", &PythonRedistribution::forward, "pairs"_a, "arrays"_a)
        .def("back", &PythonRedistribution::back, "pairs"_a, "arrays"_a)
        .def("explain", [](const PythonRedistribution& self) { return self.exchange().explain(); });
}

}  // namespace parhelion::python

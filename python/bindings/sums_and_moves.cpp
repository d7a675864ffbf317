// `arrays` of a call keep the memory of its fields alive.
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/redistribution/gather.hpp"
#include "parhelion/redistribution/redistribution.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

using Fields = std::vector<Field>;

class PythonPointSums final : public PythonExchangeOf<PointSums> {
 public:
  PythonPointSums(const CartesianDomain& domain, const Fields& fields, nb::object arrays,
      const ExchangeOptions& options)
      : PythonExchangeOf(std::move(arrays)) {
    const nb::gil_scoped_release released;
    make(domain, fields, options);
  }
  void reduce(AnyReduction reduction, const Fields& fields, const nb::object& /*arrays*/) {
    const auto inside = enter();
    combine(reduction, [&](Reduction how) { exchange_->reduce(how, fields); });
  }
  void begin(AnyReduction reduction, const Fields& fields, const nb::object& arrays) {
    const auto inside = enter();
    start(PassedReduction(reduction), arrays,
        [&](Reduction how) { return exchange_->begin(how, fields); });
  }
};

class PythonRedistribution final : public PythonExchangeOf<Redistribution> {
 public:
  template <class Domain, class... Axes>
  PythonRedistribution(
      const Domain& from, const Domain& to, const ExchangeOptions& options, const Axes&... axes)
      : PythonExchangeOf(nb::none()) {
    const nb::gil_scoped_release released;
    make(from, to, options, axes...);
  }
  void run(void (Redistribution::*move)(std::span<const Move>),
      const std::vector<std::pair<Field, Field>>& pairs) {
    std::vector<Move> moves;
    for (const auto& [from, to] : pairs) moves.push_back({from, to});
    guarded([&] { (exchange_->*move)(moves); });
  }
};

auto moving(void (Redistribution::*move)(std::span<const Move>)) {
  return [move](PythonRedistribution& self, const std::vector<std::pair<Field, Field>>& pairs,
             const nb::object& /*arrays*/) { self.run(move, pairs); };
}

}  // namespace

void bind_sums_and_moves(nb::module_& module) {
  using Sums = PythonPointSums;
  bind_begun<Sums>(module, "PointSums")
      .def(nb::init<const CartesianDomain&, const Fields&, nb::object, const ExchangeOptions&>(),
          "domain"_a, "fields"_a, "arrays"_a, "options"_a)
      .def("_reduce_fields", &Sums::reduce, "reduction"_a, "fields"_a, "arrays"_a)
      .def("_begin_fields", giving_step(&Sums::begin), "reduction"_a, "fields"_a, "arrays"_a)
      .def(
          "explain", [](const Sums& self) { return self.exchange().explain(); },
          "How many points are shared, and what moves them.");
  using Moves = PythonRedistribution;
  nb::class_<Moves>(module, "Redistribution")
      .def(nb::init<const CartesianDomain&, const CartesianDomain&, const ExchangeOptions&,
               std::vector<int>>(),
          "source"_a, "target"_a, "options"_a, "axes"_a)
      .def(nb::init<const IndexedDomain&, const IndexedDomain&, const ExchangeOptions&>(),
          "source"_a, "target"_a, "options"_a)
      .def("forward", moving(&Redistribution::forward), "pairs"_a, "arrays"_a)
      .def("prepare", moving(&Redistribution::prepare), "pairs"_a, "arrays"_a)
      .def("back", moving(&Redistribution::back), "pairs"_a, "arrays"_a)
      .def("explain", [](const Moves& self) { return self.exchange().explain(); });
  module.def("gather", &gather, "domain"_a, "field"_a, "whole"_a, "root"_a, Unlocked());
  module.def("scatter", &scatter, "domain"_a, "whole"_a, "field"_a, "root"_a, Unlocked());
}

}  // namespace parhelion::python

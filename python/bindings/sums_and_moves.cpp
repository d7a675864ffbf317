// `arrays` of a call keep the memory of its fields alive.
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/redistribution/gather.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

using Fields = std::vector<Field>;
using Sums = ExchangeOf<PointSums>;
using Moves = ExchangeOf<Redistribution>;

void make_sums(Sums* self, const CartesianDomain& domain, const Fields& fields, nb::object arrays,
    const ExchangeOptions& options) {
  new (self) Sums(std::move(arrays), unlocked([&] { return PointSums(domain, fields, options); }));
}

void reduce(Sums& self, AnyReduction reduction, const Fields& fields, nb::handle /*arrays*/) {
  const PassedReduction how(reduction);
  self.guarded([&] { self.native().reduce(how.reduction(), fields); });
  how.rethrow();
}

void begin(Sums& self, AnyReduction reduction, const Fields& fields, nb::object arrays) {
  const auto inside = self.enter();
  self.start(PassedReduction(reduction), std::move(arrays),
      [&](Reduction how) { return self.native().begin(how, fields); });
}

template <class Domain, class... Axes>
void make_moves(Moves* self, const Domain& from, const Domain& to, const ExchangeOptions& options,
    const Axes&... axes) {
  new (self)
      Moves(nb::none(), unlocked([&] { return Redistribution(from, to, options, axes...); }));
}

auto moving(void (Redistribution::*move)(std::span<const Move>)) {
  return [move](Moves& self, const std::vector<Move>& pairs, nb::handle /*arrays*/) {
    self.guarded([&] { (self.native().*move)(pairs); });
  };
}

}  // namespace

void bind_sums_and_moves(nb::module_& module) {
  bind_begun<Sums>(module, "PointSums")
      .def("__init__", &make_sums)
      .def("_reduce_fields", &reduce)
      .def("_begin_fields", giving_step(&begin))
      .def("explain", telling<Sums>(&PointSums::explain),
          "The number of shared points, and the transport.");
  nb::class_<Moves>(module, "Redistribution")
      .def("__init__", &make_moves<CartesianDomain, std::vector<int>>)
      .def("__init__", &make_moves<IndexedDomain>)
      .def("forward", moving(&Redistribution::forward))
      .def("prepare", moving(&Redistribution::prepare))
      .def("back", moving(&Redistribution::back))
      .def("explain", telling<Moves>(&Redistribution::explain));
  module.def("gather", &gather, "domain"_a, "field"_a, "whole"_a, "root"_a, Unlocked());
  module.def("scatter", &scatter, "domain"_a, "whole"_a, "field"_a, "root"_a, Unlocked());
}

}  // namespace parhelion::python

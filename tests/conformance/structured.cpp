// Every ghost of structured grids, over every transport, in both directions.
#include "support/cases.hpp"
#include "support/cells.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

constexpr Reduction all_reductions[] = {
    Reduction::min, Reduction::bit_or, Reduction::max, Reduction::bit_and, Reduction::sum};

// Calls visit(domain, pattern, turn) for every case; `turn` selects element types, layouts and
// routes.
template <class Visit>
void for_each_case(Visit&& visit) {
  int turn = 0;
  for (const GridCase& each : grid_cases(Communicator(MPI_COMM_WORLD).size())) {
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    visit(domain, build_pattern(domain), turn++);
  }
}

bool is_staged(const CartesianDomain& domain) {
  return domain.algorithm() == Algorithm::by_dimension;
}

}  // namespace

CASE(
    "over every transport, ghosts of a structured grid hold their owners' values, and owners what "
    "came back") {
  for_each_case([](const CartesianDomain& domain, const Pattern& pattern, int turn) {
    for (const Route& route : routes_for(turn, 2)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, 4, turn, route.memory);
      Exchange exchange(pattern, views(fields), {route.transport});
      check_forward(exchange, fields, 0);
      check_reverse(exchange, fields, Reduction::replace, is_staged(domain), 1);
      check_forward(exchange, fields, 2);
    }
  });
}

CASE("owners of a structured grid get the sum of their ghosts, exactly on whole numbers") {
  for_each_case([](const CartesianDomain& domain, const Pattern& pattern, int turn) {
    for (const Route& route : routes_for(turn, 1)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, 3, turn, route.memory, combinable(Reduction::sum));
      Exchange exchange(pattern, views(fields), {route.transport});
      for (int round = 0; round < 2; ++round)
        check_reverse(exchange, fields, Reduction::sum, is_staged(domain), round);
      check_forward(exchange, fields, 2);
    }
  });
}

CASE("owners of a structured grid combine integers in every way that there is") {
  for_each_case([](const CartesianDomain& domain, const Pattern& pattern, int turn) {
    const Route route = route_for(turn);
    CAPTURE(route.transport);
    auto fields = make_fields(domain, 2, turn, route.memory, combinable(Reduction::bit_or));
    Exchange exchange(pattern, views(fields), {route.transport});
    for (Reduction reduction : all_reductions) {
      CAPTURE(to_string(reduction));
      check_reverse(exchange, fields, reduction, is_staged(domain), 0);
    }
  });
}

CASE("owners of a structured grid take the least and the greatest of floating-point ghosts") {
  for_each_case([](const CartesianDomain& domain, const Pattern& pattern, int turn) {
    if (turn % 3 != 0) return;
    const Route route = route_for(turn);
    CAPTURE(route.transport);
    auto fields =
        make_fields(domain, 2, turn, route.memory, {{Scalar::float64, 8}, {Scalar::float32, 4}});
    Exchange exchange(pattern, views(fields), {route.transport});
    for (Reduction reduction : {Reduction::min, Reduction::max})
      check_reverse(exchange, fields, reduction, is_staged(domain), 0);
  });
}

CASE(
    "periodic images of owned cells alone are there after begin, those of other ranks' cells after "
    "end") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    const CartesianDomain domain(
        {4 * ranks, 6, 5}, {.halo = {1, 2, 1}, .periodic = true, .process_grid = {ranks, 1, 1}});
    auto u = make_array<double>(domain), v = make_array<double>(domain);
    Exchange exchange(
        build_pattern(domain), {view(u), view(v)}, {.transport = "mpi", .threads = threads});
    const Box all = domain.extended(), own = domain.owned();
    const auto value = [&](const Coordinates& x) {
      return static_cast<double>(
          (x[0] + 4 * ranks) % (4 * ranks) * 100 + (x[1] + 6) % 6 * 10 + (x[2] + 5) % 5);
    };
    const auto is_owned = [&](const Coordinates& x) {
      return intersect(own, Box{x, {x[0] + 1, x[1] + 1, x[2] + 1, 1}}).cells() == 1;
    };
    for_each_cell(
        all, [&](const Coordinates& x) { u.at(x) = v.at(x) = is_owned(x) ? value(x) : -1; });
    auto step = exchange.begin();
    int missing = 0, early = 0, wrong = 0;
    for_each_cell(all, [&](const Coordinates& x) {
      const bool beside = x[0] >= own.lo[0] && x[0] < own.hi[0];
      if (beside || ranks == 1) missing += v.at(x) != value(x);
      else early += v.at(x) != -1 && v.at(x) != value(x);
    });
    EXPECT_EQ(missing, 0);
    EXPECT_EQ(early, 0);
    step.end();
    for_each_cell(
        all, [&](const Coordinates& x) { wrong += u.at(x) != value(x) || v.at(x) != value(x); });
    EXPECT_EQ(wrong, 0);
  }
}

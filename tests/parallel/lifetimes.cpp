// An exchange allocates once and frees everything; begin and end allocate nothing.
#include <array>
#include <optional>

#include "core/orphans.hpp"
#include "counters.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Fewer repetitions if ranks may share cores.
int repetitions(int count) { return Communicator(MPI_COMM_WORLD).size() <= 2 ? count : count / 50; }

// Makes one rank late: the first deferred send allocates and maps memory.
void exchange_with_a_late(Exchange& exchange, int rank) {
  std::optional<Exchange::Step> step;
  const bool late = Communicator(MPI_COMM_WORLD).rank() == rank;
  if (!late) step.emplace(exchange.begin());
  MPI_Barrier(MPI_COMM_WORLD);
  if (late) step.emplace(exchange.begin());
  step->end();
}

void check_steady(Exchange& exchange) {
  const auto exchange_all_ways = [&] {
    exchange();
    exchange.reverse(Reduction::replace);
    auto step = exchange.begin();
    step.end();
  };
  for (int i = 0; i < 3; ++i) exchange_all_ways();
  for (int late = 0; late < Communicator(MPI_COMM_WORLD).size(); ++late)
    exchange_with_a_late(exchange, late);
  const long before = set_up_so_far();
  for (int i = 0; i < 10; ++i) exchange_all_ways();
  EXPECT_EQ(set_up_so_far() - before, 0);
}

}  // namespace

CASE("arrays and subsets that are named at a call allocate nothing once they were used") {
  const CartesianDomain domain(
      {8 * Communicator(MPI_COMM_WORLD).size(), 6}, {.halo = 2, .periodic = true});
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    if (!takes_any_array(route)) continue;
    std::vector<Array<double>> levels;
    for (int level = 0; level < 4; ++level) levels.push_back(make_array<double>(domain));
    Exchange exchange(build_pattern(domain), {view(levels[0]), view(levels[1])}, {route.transport});
    const auto swap_all_ways = [&] {
      for (std::size_t first = 0; first < 4; first += 2) {
        double *u = levels[first].data(), *v = levels[first + 1].data();
        exchange(view(domain, u), view(domain, v));
        exchange.only({.fields = {1}})(view(domain, v));
        exchange.only({.fields = {1, 0}, .depth = {1, 2}})(view(domain, v), view(domain, u));
        exchange.only({.depth = 1}).reverse(Reduction::replace);
      }
    };
    for (int i = 0; i < 4; ++i) swap_all_ways();
    const long before = set_up_so_far();
    for (int i = 0; i < 10; ++i) swap_all_ways();
    EXPECT_EQ(set_up_so_far() - before, 0);
  }
}

CASE("no exchange allocates or sets up anything once it has run, over every transport") {
  int turn = 0;
  for (const GridCase& each : grid_cases(Communicator(MPI_COMM_WORLD).size())) {
    if (turn++ % 7 != 0) continue;
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    for (const Route& route : routes_for(turn, 3)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, 3, turn, route.memory);
      Exchange exchange(build_pattern(domain), views(fields), {route.transport});
      check_steady(exchange);
    }
  }
  const MeshCase each = mesh_cases(Communicator(MPI_COMM_WORLD).size())[3];
  const IndexedDomain domain = each.mesh.domain(each.self);
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    auto fields = make_fields(domain, each.mesh, 3, 0, route.memory);
    Exchange exchange(build_pattern(domain), views(fields), {route.transport});
    check_steady(exchange);
  }
}

CASE("rows that move allocate nothing where a call before had as many") {
  const int rank = Communicator(MPI_COMM_WORLD).rank(), size = Communicator(MPI_COMM_WORLD).size();
  Migration migrate(MPI_COMM_WORLD);
  std::vector<int> to(100 * static_cast<std::size_t>(size));
  for (std::size_t row = 0; row < to.size(); ++row)
    to[row] = (rank + static_cast<int>(row % 3)) % size;
  std::vector<double> x(3 * to.size()), all(2 * x.size());
  std::vector<int> ids(to.size()), all_ids(2 * ids.size());
  const auto move = [&](std::size_t rows) {
    migrate.send(std::span(to).first(rows), {{x, 3}, ids});
    migrate.receive({{all, 3}, all_ids});
  };
  move(to.size());
  const long before = set_up_so_far();
  for (std::size_t rows = 0; rows < to.size(); rows += 7) move(rows);
  EXPECT_EQ(set_up_so_far() - before, 0);
}

CASE("no map allocates or sets up anything once it knows such arrays, over every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  const MeshCase each = mesh_cases(comm.size())[3];
  const IndexedDomain domain = each.mesh.domain(each.self);
  const auto cells = static_cast<std::size_t>(domain.size());
  for (const Route& route : all_routes()) {
    if (!takes_any_array(route)) continue;
    CAPTURE(route.transport);
    const IndexMap map(domain, {route.transport});
    const std::vector<double, NodeAllocator<double>> zeros(cells);
    auto levels = std::array{zeros, zeros};
    std::vector<int> pairs(2 * cells);
    const auto in_halves = [&](int turn, bool early) {
      if (early) map.begin_forward({levels[turn % 2], {pairs, 2}});
      MPI_Barrier(MPI_COMM_WORLD);
      if (!early) map.begin_forward({levels[turn % 2], {pairs, 2}});
      map.end({levels[turn % 2], {pairs, 2}});
    };
    const auto call_in_all_ways = [&](int turn) {
      map.forward({levels[turn % 2], {pairs, 2}});
      map.reverse({levels[turn % 2], {pairs, 2}}, Reduction::sum);
      in_halves(turn, true);
      map.begin_reverse({levels[turn % 2], {pairs, 2}}, Reduction::max);
      map.end({levels[turn % 2], {pairs, 2}});
    };
    for (int turn = 0; turn < 4; ++turn) call_in_all_ways(turn);
    for (int late = 0; late < comm.size(); ++late) in_halves(late, comm.rank() != late);
    const long before = set_up_so_far();
    for (int turn = 0; turn < 10; ++turn) call_in_all_ways(turn);
    EXPECT_EQ(set_up_so_far() - before, 0);
  }
}

CASE("thousands of exchanges come and go and leave nothing behind") {
  const CartesianDomain domain({12, 10}, {.periodic = true});
  const Pattern pattern = build_pattern(domain);
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    auto fields = make_fields(domain, 2, 3, route.memory);
    const auto come_and_go = [&](int times) {
      for (int i = 0; i < times; ++i) {
        Exchange exchange(pattern, views(fields), {route.transport});
        if (i % 64 == 0) exchange();
      }
      MPI_Barrier(MPI_COMM_WORLD);  // neighbors have read all deferred sends
      free_released();
    };
    come_and_go(10);
    Left before = left(), after = before;
    // A late neighbor may grow node-shared memory once. A leak grows it in every round.
    for (int round = 0, same = 0; round < 3 && !same; ++round) {
      before = left();
      // Exceeds the number of context ids of an MPI (2048 in MPICH), so leaked communicators
      // exhaust them.
      come_and_go(
          repetitions(route.transport == "mpi" || route.transport == "mpi_neighbor" ? 3000 : 500));
      after = left();
      const int equal = after == before;
      MPI_Allreduce(&equal, &same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    EXPECT_EQ(after.memory, before.memory);
    EXPECT_EQ(after.communicators, before.communicators);
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.types, before.types);
    EXPECT_EQ(after.descriptors, before.descriptors);
    EXPECT_EQ(after.mappings, before.mappings);
    Exchange exchange(pattern, views(fields), {route.transport});
    check_forward(exchange, fields, 0);
  }
}

CASE("domains, patterns and arrays come and go and leave nothing behind") {
  const auto come_and_go = [](int times) {
    for (int i = 0; i < times; ++i) {
      const CartesianDomain grid({12, 10}, {.periodic = true});
      auto array = make_array<double>(grid);
      static_cast<void>(build_pattern(grid));
      const IndexedDomain cells = IndexedDomain::with_owned_ids({grid.communicator().rank()}, {});
      static_cast<void>(build_pattern(cells));
      static_cast<void>(error_of([] { CartesianDomain({-1}); }));
    }
  };
  come_and_go(10);
  const Left before = left();
  come_and_go(repetitions(1000));
  EXPECT_EQ(left(), before);
}

CASE("a communicator is duplicated once, however often it is used, and freed with the user's") {
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -Communicator(MPI_COMM_WORLD).rank(), &user);
  const Left before = left();
  const long made = counters.communicators_made;
  const Communicator first(user);
  EXPECT_EQ(counters.communicators_made, made + 2);  // the duplicate and the node communicator
  for (int i = 0; i < 100; ++i) {
    const Communicator again(user);
    EXPECT_EQ(again.handle(), first.handle());
    const CartesianDomain domain({8, 8}, {}, user);
  }
  EXPECT_EQ(counters.communicators_made, made + 2);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(user, first.handle(), &same);
  EXPECT_EQ(same, MPI_CONGRUENT);
  {
    const Communicator gone = first;
  }
  EXPECT_EQ(left().communicators, before.communicators + 2);
  std::vector<double> data(400);
  {
    const CartesianDomain domain({8, 8}, {.periodic = true}, user);
    Exchange exchange(build_pattern(domain), {view(domain, data.data())}, {"mpi_neighbor"});
    exchange();
  }
  // MPI_Comm_free is collective: the exchange's two communicators are freed with the next
  // exchange or with the user's communicator, and so is the node communicator.
  EXPECT_EQ(left().communicators, before.communicators + 4);
}

CASE(
    "ranks drop what they have made in any order, and what all have dropped is freed with the "
    "next") {
  MPI_Comm user = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &user);
  const bool odd = Communicator(MPI_COMM_WORLD).rank() % 2 == 1;
  const auto make = [&] {
    return std::make_unique<placement::PlacedComm>(
        user, placement::PlacedOptions{.cells = {64, 64}});
  };
  const Left before = left();
  auto a = make(), b = make();
  const long with_two = before.communicators + 4;  // plus the duplicate and the node communicator
  EXPECT_EQ(left().communicators, with_two);
  (odd ? a : b).reset();
  auto c = make();
  EXPECT_EQ(
      left().communicators, Communicator(MPI_COMM_WORLD).size() == 1 ? with_two : with_two + 1);
  a.reset(), b.reset(), c.reset();
  auto d = make();
  EXPECT_EQ(left().communicators, before.communicators + 3);
  int size = 0;
  MPI_Comm_size(d->comm(), &size);
  EXPECT_EQ(size, d->size());
  d.reset();
  PMPI_Comm_free(&user);
  EXPECT_EQ(left().communicators, before.communicators);
}

CASE("freeing the user's communicator frees everything that hung on it") {
  // Not "auto", which keeps the memory that its first choice allocates.
  const std::array transports{"mpi_neighbor", "staged_shared+mpi", "shared+mpi"};
  const auto come_and_go = [&](int times) {
    for (int i = 0; i < times; ++i) {
      MPI_Comm user = MPI_COMM_NULL;
      PMPI_Comm_dup(MPI_COMM_WORLD, &user);
      {
        const CartesianDomain domain({8, 8}, {.periodic = true}, user);
        std::vector<double, NodeAllocator<double>> data(400);
        Exchange exchange(build_pattern(domain), {view(domain, data.data())},
            {transports[i % transports.size()]});
        exchange();
      }
      MPI_Comm_free(&user);
      --counters.communicators_freed;  // the test's own communicator
    }
  };
  come_and_go(4);
  const Left before = left();
  come_and_go(repetitions(200));
  EXPECT_EQ(left().communicators, before.communicators);
  EXPECT_EQ(left().descriptors, before.descriptors);
  EXPECT_EQ(left().memory, before.memory);
}

CASE("an exchange works on after the user has freed the communicator") {
  const Left before = left();
  MPI_Comm user = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &user);
  {
    const CartesianDomain domain({9, 8}, {.periodic = true}, user);
    auto fields = make_fields(domain, 2, 0, Memory::ordinary);
    Exchange exchange(build_pattern(domain), views(fields), {"mpi"});
    MPI_Comm_free(&user);
    --counters.communicators_freed;
    check_forward(exchange, fields, 0);
  }
  // MPI_Comm_free is collective, but ranks drop their last handle at any time: the duplicate and
  // the node communicator stay until MPI_Finalize.
  EXPECT_EQ(left().communicators, before.communicators + 2);
}

CASE("a duplicate that the user makes has a duplicate of its own in the library") {
  const Communicator world(MPI_COMM_WORLD);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  EXPECT_NE(Communicator(copy).handle(), world.handle());
  MPI_Comm_free(&copy);
  agree(world);
}

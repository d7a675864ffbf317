// Shapes in which halo exchanges failed before.
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

using Extents = std::vector<global_index>;

void check_domain(const CartesianDomain& domain, int turn) {
  for (const Route& route : routes_for(turn, 2)) {
    CAPTURE(route.transport);
    auto fields = make_fields(domain, 2, turn, route.memory, combinable(Reduction::sum));
    Exchange exchange(build_pattern(domain), views(fields), {route.transport});
    check_forward(exchange, fields, 0);
    check_reverse(
        exchange, fields, Reduction::sum, domain.algorithm() == Algorithm::by_dimension, 1);
  }
}

// Checks the grid with every algorithm that the options allow.
void check_grid(
    const Extents& extents, CartesianOptions options, Communicator comm = MPI_COMM_WORLD) {
  int turn = static_cast<int>(extents.size());
  check_domain({extents, options, comm}, turn++);
  options.algorithm = Algorithm::by_dimension;
  check_domain({extents, options, comm}, turn++);
  options.algorithm = Algorithm::standard;
  options.neighbors = Neighbors::faces;
  check_domain({extents, options, comm}, turn++);
}

}  // namespace

CASE("a rank that owns nothing takes part") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  std::vector<global_index> split(static_cast<std::size_t>(size), 0);
  for (std::size_t r = 0; r < split.size(); r += 2) split[r] = 3;
  global_index cells = 0;
  for (global_index part : split) cells += part;
  check_grid(
      {cells, 4}, {.halo = 2, .periodic = true, .process_grid = {size, 1}, .splits = {split, {}}});
}

CASE("only the last rank owns anything") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  std::vector<global_index> split(static_cast<std::size_t>(size), 0);
  split.back() = 5;
  check_grid({5, 3}, {.halo = {2, 1},
                         .periodic = {true, false},
                         .process_grid = {size, 1},
                         .splits = {split, {}}});
}

CASE("a grid without cells exchanges nothing") {
  check_grid({0, 7}, {.halo = 1, .periodic = true});
}

CASE("a rank is its own neighbor") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  check_grid({3 * size, 4, 3}, {.halo = 2, .periodic = true, .process_grid = {size, 1, 1}});
}

CASE("two periodic ranks are each both left and right neighbor") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  if (size % 2 != 0) return;
  check_grid({6, 3 * (size / 2)},
      {.halo = {{2, 1}, {1, 2}}, .periodic = true, .process_grid = {2, size / 2}});
}

CASE("a halo is wider than what its neighbors own") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  check_grid({2 * size, 3}, {.halo = {5, 1}, .process_grid = {size, 1}});
  check_grid({2 * size, 3}, {.halo = {5, 1}, .periodic = true, .process_grid = {size, 1}});
}

CASE("a halo goes around a whole periodic grid, more than once") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  check_grid({2}, {.halo = 5, .periodic = true, .process_grid = {size}});
  check_grid({1, 2}, {.halo = {3, 2}, .periodic = true, .process_grid = {1, size}});
  check_grid({1, 1, 1}, {.halo = 1, .periodic = true, .process_grid = {size, 1, 1}});
}

CASE("a halo on one side only, and none in one dimension") {
  check_grid({7, 5, 4}, {.halo = {{2, 0, 0}, {0, 0, 1}}, .periodic = true});
}

CASE("a halo of width zero exchanges nothing") {
  check_grid({9, 5}, {.halo = 0, .periodic = true});
}

CASE("several blocks per rank, more blocks than cells among them") {
  check_grid({5, 4}, {.halo = 1, .periodic = true, .blocks_per_rank = {3, 2}});
  check_grid({16}, {.halo = HaloWidth({3, 0, 0, 0}, {2, 0, 0, 0}), .blocks_per_rank = {4}});
}

CASE("prime numbers of ranks, on communicators of the user") {
  for (const int prime : {2, 3, 5, 7}) {
    const Communicator world(MPI_COMM_WORLD);
    if (world.size() < prime) continue;
    MPI_Comm some = MPI_COMM_NULL;
    // The highest ranks in descending order, so that ranks differ from those of the world.
    MPI_Comm_split(MPI_COMM_WORLD, world.rank() >= world.size() - prime ? 0 : MPI_UNDEFINED,
        -world.rank(), &some);
    if (some == MPI_COMM_NULL) continue;
    CAPTURE(prime);
    check_grid({7, 6}, {.halo = 1, .periodic = true}, some);
    check_grid({4, 3, 5}, {.halo = 2, .periodic = {false, true, true}}, some);
    MPI_Comm_free(&some);
  }
}

CASE("fields of many types and widths travel in one message per neighbor") {
  const CartesianDomain domain({11, 9}, {.halo = 3, .periodic = true});
  const Pattern pattern = build_pattern(domain);
  auto fields = make_fields(domain, 15, 0, Memory::ordinary);
  Exchange exchange(pattern, views(fields), {"mpi"});
  EXPECT_EQ(exchange.plan().messages_sent(), static_cast<int>(neighbor_ranks(pattern).size()));
  check_forward(exchange, fields, 0);
}

CASE("an exchange of no fields does nothing") {
  const CartesianDomain domain({11, 9}, {.periodic = true});
  for (const Route& route : all_routes()) {
    Exchange exchange(build_pattern(domain), {}, {route.transport});
    exchange();
    exchange.reverse();
    EXPECT_EQ(exchange.plan().bytes_sent(), 0);
  }
}

CASE("a staged exchange sends to two neighbors per dimension") {
  const int size = Communicator(MPI_COMM_WORLD).size();
  if (size < 3) return;
  const CartesianDomain domain({3 * size, 8, 8}, {.halo = 2,
                                                     .periodic = true,
                                                     .process_grid = {size, 1, 1},
                                                     .algorithm = Algorithm::by_dimension});
  std::vector<double> data(static_cast<std::size_t>(domain.extended().cells()));
  EXPECT_EQ(Exchange(build_pattern(domain), {view(domain, data.data())}).plan().messages_sent(), 2);
}

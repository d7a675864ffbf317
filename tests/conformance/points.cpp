// Staggered fields, array halos wider than the depth, permuted ranks, owned ends. An independent
// model (support/cells.hpp) gives the owner of each ghost; nothing else may change.
#include <numeric>

#include "support/cases.hpp"
#include "support/cells.hpp"
#include "support/exchanging.hpp"
#include "support/grid_field.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

const std::vector<Stagger> staggers{
    {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}};
constexpr Element whole{Scalar::int64, 8};

// One field per stagger, ordered so that the patterns alternate; depths and array halos differ.
std::vector<GridField> fields_of(const CartesianDomain& domain, Memory memory) {
  std::vector<GridField> fields;
  for (int f = 0; f < 8; ++f) {
    GridSpec spec{f % 2 == 0 ? whole : Element{Scalar::float64, 8}, 1 + f % 3 / 2, domain.halo(),
        static_cast<Layout>(f % 3)};
    spec.stagger = staggers[static_cast<std::size_t>(f) % staggers.size()];
    for (int d = 0; d < max_dimensions; ++d)
      spec.stagger.along[d] = d < domain.dimensions() ? spec.stagger.along[d] : std::int16_t{0};
    spec.stagger.listed = 0;
    if (f % 4 == 1) spec.halo = HaloWidth(0);
    if (f % 4 == 2) spec.more = HaloWidth(1);
    if (f == 7) spec.halo.lower = {};
    fields.emplace_back(domain, spec, f, memory);
  }
  return fields;
}

void check_domain(const CartesianDomain& domain, int turn) {
  const bool staged = domain.algorithm() == Algorithm::by_dimension;
  for (const Route& route : routes_for(turn, 1)) {
    CAPTURE(route.transport);
    auto fields = fields_of(domain, route.memory);
    Exchange exchange(domain, views(fields), {route.transport});
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::sum, staged, 1);
    for (auto& field : fields) field.fill(Values::bits, 2), field.expect_forward();
    auto step = exchange.begin(views(fields));
    step.end();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  }
}

std::vector<int> shuffled(int count) {
  std::vector<int> table(static_cast<std::size_t>(count));
  std::iota(table.rbegin(), table.rend(), 0);
  if (count > 2) std::swap(table[0], table[1]);
  return table;
}

struct Kind {
  const char* name;
  CartesianOptions options;
};

// Two-dimensional grids, with ranks in both dimensions if there are enough.
std::vector<Kind> kinds() {
  const int n = ranks();
  const std::vector<int> grid = n % 2 == 0 ? std::vector{2, n / 2} : std::vector{1, n};
  return {
      {"open", {.halo = 2, .process_grid = grid, .rank_order = RankFill::first_fastest}},
      {"owned ends", {.halo = 2,
                         .process_grid = grid,
                         .rank_order = shuffled(n),
                         .boundary = Boundary::owned}},
      {"periodic", {.halo = {{1, 2}, {2, 1}}, .periodic = true, .process_grid = grid}},
      {"periodic across, owned ends along", {.halo = 1,
                                                .periodic = {true, false},
                                                .process_grid = grid,
                                                .boundary = Boundary::owned}},
      {"blocks", {.halo = 1,
                     .periodic = {false, true},
                     .blocks_per_rank = {2, 3},
                     .boundary = Boundary::owned}},
      {"wider than blocks", {.halo = 3, .process_grid = {1, n}, .boundary = Boundary::owned}},
  };
}

}  // namespace

CASE(
    "over every transport, fields of any stagger, depth and array halo travel together, with and "
    "without owned ends") {
  int turn = 0;
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    for (const auto& [neighbors, algorithm] : {std::pair{Neighbors::full, Algorithm::standard},
             {Neighbors::faces, Algorithm::standard}, {Neighbors::full, Algorithm::by_dimension}}) {
      if (ranks() > 2 && turn % 3 != static_cast<int>(algorithm) + static_cast<int>(neighbors) &&
          turn % 2 == 0) {
        ++turn;
        continue;
      }
      CartesianOptions options = kind.options;
      options.neighbors = neighbors;
      options.algorithm = algorithm;
      check_domain({{11, 3 * ranks() + 1}, options}, turn++);
    }
  }
}

CASE("points of a grid that a rank has no cells of, of one dimension, and of three") {
  const int n = ranks();
  std::vector<global_index> split(static_cast<std::size_t>(n), 0);
  for (std::size_t r = 0; r < split.size(); r += 2) split[r] = 4;
  const global_index cells = std::accumulate(split.begin(), split.end(), global_index{0});
  for (const Boundary boundary : {Boundary::open, Boundary::owned}) {
    check_domain(
        {{cells, 3},
            {.halo = 2, .process_grid = {n, 1}, .splits = {split, {}}, .boundary = boundary}},
        1);
    check_domain({{4 * n}, {.halo = 2, .boundary = boundary}}, 2);
    check_domain({{4, 5, 2 * n}, {.halo = 1,
                                     .periodic = {false, true, false},
                                     .process_grid = {1, 1, n},
                                     .boundary = boundary}},
        3);
    check_domain({{1, 2 * n}, {.halo = 1, .process_grid = {1, n}, .boundary = boundary}}, 4);
  }
}

CASE("fields of four staggers are one message for each neighbor") {
  const CartesianDomain domain({8, 6 * ranks()}, {.halo = 2, .process_grid = {1, ranks()}});
  auto cells = make_array<double>(domain),
       corners = make_array<double>(domain, {.stagger = {1, 1}, .array_halo = 3, .depth = 1});
  auto across = make_array<double>(domain, {.stagger = {1, 0}}),
       along = make_array<double>(domain, {.stagger = {0, 1}, .depth = 0});
  Exchange all(domain, {view(cells), view(corners), view(across), view(along)}, {"mpi"});
  EXPECT_EQ(
      all.plan().messages_sent(), Exchange(domain, {view(cells)}, {"mpi"}).plan().messages_sent());
  EXPECT_EQ(all.plan().patterns.size(), 4);
  const Box own = domain.owned();
  const bool last = own.hi[1] == 6 * ranks();
  corners.at(own.lo) = 7 + static_cast<double>(own.lo[1]);
  corners.at({own.lo[0], own.hi[1]}) = -1;
  all();
  EXPECT_EQ(corners.at({own.lo[0], own.hi[1]}),
      last ? -1 : 7 + static_cast<double>(own.hi[1]));  // a duplicate: the value of its owner
  corners.at({own.lo[0], own.hi[1]}) = -2;
  all.only({.fields = {1}, .depth = 0})();
  EXPECT_EQ(corners.at({own.lo[0], own.hi[1]}), last ? -2 : 7 + static_cast<double>(own.hi[1]));
  EXPECT_EQ(array_extents(domain, {.stagger = 1, .array_halo = 3})[1], own.extent(1) + 7);
  EXPECT_EQ(corners.values<2>().extent(1), own.extent(1) + 1);
  EXPECT_EQ(&corners.values<2>()(0, 0), &corners.at(own.lo));
  EXPECT_TRUE(holds(error_of([&] { all(view(cells), view(cells), view(across), view(along)); }),
      "array 1 has another"));
}

CASE("a pattern of points with owned ends is for such fields alone") {
  const CartesianDomain domain(
      {6, 4 * ranks()}, {.halo = 1, .process_grid = {1, ranks()}, .boundary = Boundary::owned});
  const Pattern pattern = build_pattern(domain.staggered({0, 1}));
  std::vector<GridField> fields;
  GridSpec spec{whole, 1, domain.halo()};
  spec.stagger = {0, 1};
  fields.emplace_back(domain, spec, 3, Memory::ordinary);
  Exchange exchange(pattern, views(fields), {"mpi"});
  check_forward(exchange, fields, 0);
  spec.stagger = {1, 0};
  const GridField other(domain, spec, 4, Memory::ordinary);
  EXPECT_TRUE(holds(
      error_of([&] { Exchange(pattern, {other.view()}); }), "differs in stagger from the pattern"));
  spec.stagger = {0, 1};
  spec.halo = 0;
  const GridField shallow(domain, spec, 5, Memory::ordinary);
  EXPECT_TRUE(
      holds(error_of([&] { Exchange(pattern, {shallow.view()}); }), "layers beyond the ends"));
}

CASE("ranks fill the process grid as they are told to") {
  const int n = ranks(), me = Communicator(MPI_COMM_WORLD).rank();
  const std::vector<int> grid = n % 2 == 0 ? std::vector{2, n / 2} : std::vector{1, n};
  const auto check = [&](const RankOrder& order, auto&& expected) {
    const CartesianDomain domain(
        {2 * n, 3 * n}, {.process_grid = grid, .blocks_per_rank = {2, 1}, .rank_order = order});
    for (int rank = 0; rank < n; ++rank) {
      EXPECT_EQ(domain.coordinates_of(rank), expected(rank));
      const auto at = domain.coordinates_of(rank);
      const auto place = domain.place_of({2 * at[0] + 1, at[1]});
      EXPECT_EQ(place.rank, rank);
      EXPECT_EQ(place.block, 1);
    }
    EXPECT_EQ(
        domain.owned().lo[1], domain.axis(1).starts[static_cast<std::size_t>(expected(me)[1])]);
  };
  check(RankFill::last_fastest,
      [&](int rank) { return std::vector{rank / grid[1], rank % grid[1]}; });
  check(RankFill::first_fastest,
      [&](int rank) { return std::vector{rank % grid[0], rank / grid[0]}; });
  const auto table = shuffled(n);
  check(table, [&](int rank) {
    const auto place =
        static_cast<int>(std::find(table.begin(), table.end(), rank) - table.begin());
    return std::vector{place / grid[1], place % grid[1]};
  });
}

CASE("grid, periodicity and order of a Cartesian communicator are taken over") {
  const int n = ranks();
  const int dims[] = {n, 1}, periods[] = {1, 0};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
  {
    const Communicator comm(cart);
    const CartesianDomain domain({3 * n, 4}, {.rank_order = RankFill::of_communicator}, comm);
    int mine[2];
    MPI_Cart_coords(cart, comm.rank(), 2, mine);
    EXPECT_EQ(domain.coordinates(), std::vector<int>(mine, mine + 2));
    EXPECT_EQ(domain.process_grid(), (std::vector{n, 1}));
    EXPECT_TRUE((domain.axis(0).periodic && !domain.axis(1).periodic));
    const auto refused = [&](const char* why, std::vector<global_index> extents,
                             CartesianOptions options, const Communicator& on) {
      options.rank_order = RankFill::of_communicator;
      EXPECT_TRUE(holds(error_of([&] { CartesianDomain(extents, options, on); }), why));
    };
    refused("has 2 dimensions, but the domain has 3", {8, 8, 8}, {}, comm);
    refused("dimension 1 is periodic in the domain", {8, 8}, {.periodic = {false, true}}, comm);
    if (n > 1) refused("process grid is not that", {8, 8}, {.process_grid = {1, n}}, comm);
    refused("no Cartesian topology", {8, 8}, {}, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&cart);
}

CASE("layers, staggers and tables that cannot be are refused by every rank") {
  const int n = ranks(), me = Communicator(MPI_COMM_WORLD).rank();
  const CartesianDomain domain({4 * n, 6}, {.halo = 2, .process_grid = {n, 1}});
  std::vector<double> memory(2000);
  const auto refused = [&](const char* why, const ArrayLayout& layout) {
    EXPECT_TRUE(
        holds(error_of([&] { Exchange(domain, {view(domain, memory.data(), layout)}); }), why));
  };
  refused("a depth of 2 in dimension 1, but its array has a halo of 1",
      {.array_halo = {2, 1}, .depth = 2});
  refused(
      "a halo of 3 in dimension 0, but the pattern has one of 2", {.array_halo = 4, .depth = 3});
  refused("a stagger of 2 in dimension 0", {.stagger = {2, 0}});
  refused("a stagger of -2 in dimension 1", {.stagger = {0, -2}});
  refused("negative array halo", {.array_halo = -2});
  refused("negative halo width", {.depth = -2});
  if (n > 1)
    refused("a stagger of 2",
        {.stagger = {me == 0 ? 2 : 0, 0}});  // all ranks report one rank's mistake
  if (n > 1)
    refused("the stagger of field 0 in dimension 1 is 1 on rank 0 and 0",
        {.stagger = {0, me == 0 ? 1 : 0}});
  const auto refused_order = [&](const char* why, const std::vector<int>& table) {
    EXPECT_TRUE(holds(error_of([&] { CartesianDomain({8 * n}, {.rank_order = table}); }), why));
  };
  std::vector<int> table = shuffled(n);
  table[0] = n;
  refused_order("does not exist: use 0 to", table);
  table[0] = 0;
  if (n > 1) refused_order("no place for rank 1", std::vector<int>(static_cast<std::size_t>(n), 0));
  refused_order(
      "entries, but the process grid has", std::vector<int>(static_cast<std::size_t>(n) + 1, 0));
  EXPECT_ERROR(Error, "staggered in dimension 1 already", domain.staggered({0, 1}).staggered(1));
  EXPECT_ERROR(Error, "a stagger of 2", domain.staggered({1}).staggered({0, 2}));
  EXPECT_ERROR(Error, "for 3 dimensions of 2", view(domain, memory.data(), {.stagger = {1, 0, 0}}));
}

// Every rank reports a mistake of any rank, and none hangs.
#include <limits>
#include <new>

#include "parhelion/core/collective.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_field.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

using Extents = std::vector<global_index>;

// Every rank throws an error that contains `part`; the communicator remains usable.
template <class Call>
void check_refused(const std::string& part, Call&& call) {
  const std::string message = error_of(call);
  CAPTURE(message);
  EXPECT_NE(message, "");
  EXPECT_TRUE(holds(message, part));
  agree(Communicator(MPI_COMM_WORLD));
}

void refuse_domain(
    const std::string& part, const Extents& extents, const CartesianOptions& options) {
  CAPTURE(part);
  check_refused(part, [&] { CartesianDomain(extents, options); });
  if (ranks() > 1)
    check_refused("", [&] {
      CartesianDomain(last() ? extents : Extents{8, 8}, last() ? options : CartesianOptions{});
    });
}

}  // namespace

CASE("the error of a rank that leaves a call is told, not what another complains of meanwhile") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  for (const int leaves : {comm.size() - 1, 0})
    check_refused("rank " + std::to_string(leaves) + ": out of memory", [&] {
      collectively(comm, "a call", [&] {
        if (comm.rank() == leaves) throw std::bad_alloc();
        validate_together(comm, [] { throw Error("no network", ErrorKind::system); });
      });
    });
}

CASE("wrong arguments of a structured domain are refused on every rank") {
  refuse_domain("1 to 4 dimensions", {}, {});
  refuse_domain("1 to 4 dimensions", {2, 2, 2, 2, 2}, {});
  refuse_domain("negative", {8, -1}, {});
  refuse_domain("negative halo", {8, 8}, {.halo = {1, -1}});
  refuse_domain("process grid", {8, 8}, {.process_grid = {ranks()}});
  refuse_domain("process grid", {8, 8}, {.process_grid = {ranks() + 1, 1}});
  refuse_domain("at least 1 rank", {8, 8}, {.process_grid = {0, ranks()}});
  refuse_domain("at least 1 rank", {8, 8}, {.process_grid = {-ranks(), -1}});
  refuse_domain("process grid", {8, 8}, {.process_grid = {1 << 30, 1 << 30}});
  refuse_domain("2 × 2 × 4 needs 16 ranks, but the communicator has " + std::to_string(ranks()),
      {8, 8, 8}, {.process_grid = {2, 2, 4}});
  refuse_domain(
      "needs more than 2^63 ranks", {8, 8, 8}, {.process_grid = {1 << 30, 1 << 30, 1 << 30}});
  refuse_domain("adds up", {8, 8}, {.process_grid = {ranks(), 1}, .splits = {{}, {7}}});
  refuse_domain("does not fit", {8, 8}, {.process_grid = {1, ranks()}, .splits = {{9}, {}}});
  refuse_domain("adds up", {8, 8}, {.process_grid = {1, ranks()}, .splits = {{7}, {}}});
  refuse_domain("does not fit", {8, 8}, {.process_grid = {1, ranks()}, .splits = {{-8}, {}}});
  refuse_domain("one part per rank", {8, 8},
      {.process_grid = {ranks(), 1},
          .splits = {Extents(static_cast<std::size_t>(ranks() + 1), 1), {}}});
  refuse_domain("splits", {8, 8}, {.splits = {{}}});
  refuse_domain("blocks_per_rank", {8, 8}, {.blocks_per_rank = {0, 1}});
  refuse_domain("blocks_per_rank", {8, 8}, {.blocks_per_rank = {1}});
  refuse_domain("halo width is given for 2 dimensions of 3", {8, 8, 8}, {.halo = {2, 1}});
  refuse_domain("halo width is given for 3 dimensions of 2", {8, 8}, {.halo = {2, 1, 1}});
  refuse_domain(
      "halo width is given for 5 dimensions of 4", {8, 8, 8, 8}, {.halo = {1, 1, 1, 1, 1}});
  refuse_domain("periodic is given for 2 dimensions of 3", {8, 8, 8}, {.periodic = {true, false}});
  refuse_domain("periodic is given for 2 dimensions of 1", {8}, {.periodic = {true, true}});
  refuse_domain("by_dimension", {8, 8},
      {.neighbors = Neighbors::faces, .algorithm = Algorithm::by_dimension});
}

CASE("one halo width or flag in braces is for all dimensions, as it is without") {
  const CartesianDomain domain({4 * ranks(), 8, 8}, {.halo = {2}, .periodic = {true}});
  EXPECT_EQ(domain.halo(), CartesianDomain({4 * ranks(), 8, 8}, {.halo = 2}).halo());
  for (int d = 0; d < 3; ++d)
    EXPECT_TRUE(
        (domain.halo().lower[d] == 2 && domain.halo().upper[d] == 2 && domain.axis(d).periodic));
  EXPECT_EQ(array_extents(domain, {.array_halo = {1}})[2], domain.owned().extent(2) + 2);
  EXPECT_ERROR(Error, "for 2 dimensions of 3", array_extents(domain, {.array_halo = {1, 1}}));
  EXPECT_ERROR(Error, "for 2 dimensions of 3",
      view(domain, static_cast<double*>(nullptr), {.array_halo = {1, 1}}));
}

CASE("absurd sizes of a structured domain are refused, neither computed with nor allocated") {
  constexpr global_index huge = std::numeric_limits<global_index>::max();
  refuse_domain("cells", {huge, 2}, {});
  refuse_domain("cells", {global_index{1} << 40, global_index{1} << 40}, {});
  refuse_domain("blocks", {8, 8, 8, 8}, {.blocks_per_rank = {1 << 20, 1 << 20, 1 << 20, 1 << 20}});
  refuse_domain("halo", {2, 2}, {.halo = 2000000000, .periodic = true});
  refuse_domain("halo", {8, 8}, {.halo = std::numeric_limits<int>::max()});
}

CASE("ranks that describe different structured domains are told, whatever differs") {
  if (ranks() == 1) return;
  const auto differ = [](const CartesianOptions& here, const Extents& extents = {16, 16}) {
    check_refused("differ", [&] {
      CartesianDomain(last() ? extents : Extents{16, 16}, last() ? here : CartesianOptions{});
    });
  };
  differ({}, {16, 17});
  differ({}, {16});
  differ({}, {16, 16, 1});
  differ({.halo = 2});
  differ({.halo = HaloWidth({1, 1, 0, 0}, {1, 2, 0, 0})});
  differ({.periodic = true});
  differ({.periodic = {false, true}});
  differ(
      {.process_grid = {1, ranks()}, .splits = {{}, Extents(static_cast<std::size_t>(ranks()), 0)}},
      {16, 0});
  differ({.blocks_per_rank = {2, 1}});
  differ({.neighbors = Neighbors::faces});
  differ({.algorithm = Algorithm::by_dimension});
}

CASE("what differs is said with a rank, both values, and how many ranks differ") {
  if (ranks() == 1) return;
  const std::string there = " on rank " + std::to_string(ranks() - 1);
  const auto differ = [](const std::string& part, const Extents& extents,
                          const CartesianOptions& wrong, const CartesianOptions& right) {
    check_refused(
        part, [&] { CartesianDomain(last() ? extents : Extents{16, 16}, last() ? wrong : right); });
  };
  differ("the number of dimensions is 2 on rank 0 and 3" + there, {16, 16, 1}, {}, {});
  differ("the extent in dimension 1 is 16 on rank 0 and 17" + there, {16, 17}, {}, {});
  differ("whether it is periodic in dimension 1 is no on rank 0 and yes" + there, {16, 16},
      {.periodic = {false, true}}, {});
  differ("the upper halo width in dimension 0 is 1 on rank 0 and 2" + there, {16, 16},
      {.halo = HaloWidth({1, 1, 1, 1}, {2, 1, 1, 1})}, {.halo = 1});
  Extents even(static_cast<std::size_t>(ranks()), 0), uneven = even;
  even[0] = uneven[0] = 15;
  even[1] += 1, uneven[static_cast<std::size_t>(ranks()) - 1] += 1, uneven[0] -= 1, uneven[1] += 1;
  const std::vector<int> grid{ranks(), 1};
  differ("the first cell of block 1 in dimension 0 is 15 on rank 0 and 14" + there, {16, 16},
      {.process_grid = grid, .splits = {uneven, {}}}, {.process_grid = grid, .splits = {even, {}}});
  const std::string all = std::to_string(ranks() - 1);
  const std::string others =
      ranks() > 2 ? " on rank 1 (" + all + " of the " + all + " other ranks differ from rank 0)"
                  : " on rank 1;";
  check_refused("neighbors is faces on rank 0 and full" + others, [&] {
    CartesianDomain({16, 16}, {.neighbors = rank() == 0 ? Neighbors::faces : Neighbors::full});
  });
}

namespace {

// Creates exchanges whose arguments `change` alters on the last rank only.
template <class Change>
void refuse_fields(const std::string& part, Change&& change, const std::string& transport = "mpi") {
  const CartesianDomain domain({16, 16}, {.halo = 2, .periodic = true});
  std::vector<double> data(8192);
  std::vector<Field> fields{view(domain, data.data()), view(domain, data.data() + 4096)};
  ExchangeOptions options{transport};
  change(domain, fields, options);
  check_refused(part, [&] { Exchange(build_pattern(domain), fields, options); });
}

template <class Change>
void refuse_difference(Change&& change) {
  if (ranks() > 1)
    refuse_fields("differ",
        [&](const CartesianDomain& domain, std::vector<Field>& fields, ExchangeOptions& options) {
          if (last()) change(domain, fields, options);
        });
}

}  // namespace

CASE("ranks whose fields differ are told when the exchange is made") {
  refuse_difference([](auto&, auto& fields, auto&) { fields.pop_back(); });
  refuse_difference([](auto&, auto& fields, auto&) { fields.clear(); });
  refuse_difference([](auto&, auto& fields, auto&) { fields[1].element = element_of<float>(); });
  refuse_difference(
      [](auto&, auto& fields, auto&) { fields[1].element = element_of<std::int64_t>(); });
  refuse_difference([](auto&, auto& fields, auto&) { fields[0].components = 2; });
  refuse_difference([](auto&, auto& fields, auto&) { fields[0].halo = 1; });
  refuse_difference([](auto&, auto& fields, auto&) { fields[0].halo.upper[1] = 0; });
  refuse_difference([](auto&, auto&, auto& options) { options.transport = "mpi_neighbor"; });
  refuse_difference([](auto&, auto&, auto& options) { options.transport = "auto"; });
  if (ranks() == 1) return;
  const auto said = [](const std::string& here, const std::string& there, auto&& change) {
    refuse_fields(here + " on rank 0 and " + there + " on rank " + std::to_string(ranks() - 1),
        [&](const CartesianDomain&, std::vector<Field>& fields, ExchangeOptions& options) {
          if (last()) change(fields, options);
        });
  };
  said("the number of fields is 2", "1", [](auto& fields, auto&) { fields.pop_back(); });
  said("the element of field 1 is float64", "int64",
      [](auto& fields, auto&) { fields[1].element = element_of<std::int64_t>(); });
  said("the number of components of field 0 is 1", "2",
      [](auto& fields, auto&) { fields[0].components = 2; });
  said("the upper halo width of field 0 in dimension 1 is 2", "0",
      [](auto& fields, auto&) { fields[0].halo.upper[1] = 0; });
  said("the transport is mpi", "mpi_neighbor",
      [](auto&, auto& options) { options.transport = "mpi_neighbor"; });
}

CASE("fields that do not fit are refused on every rank, though only one has them") {
  const auto refuse = [](const std::string& part, auto&& change) {
    refuse_fields(
        part, [&](const CartesianDomain& domain, std::vector<Field>& fields, ExchangeOptions&) {
          if (last()) change(domain, fields);
        });
  };
  refuse("null pointer",
      [](auto& domain, auto& fields) { fields[1] = view(domain, static_cast<double*>(nullptr)); });
  refuse("null pointer", [](auto& domain, auto& fields) {
    fields[1] = view_blocks(domain, {nullptr}, element_of<double>(), {.array_halo = 0});
  });
  refuse("component", [](auto&, auto& fields) { fields[1].components = 0; });
  refuse("component", [](auto&, auto& fields) { fields[1].components = -3; });
  refuse("no size", [](auto&, auto& fields) { fields[1].element.size = 0; });
  refuse("which its type does not have",
      [](auto&, auto& fields) { fields[1].element = {Scalar::float64, 4}; });
  refuse("indexed", [](auto&, auto& fields) { fields[1].indexed = true; });
  refuse("blocks", [](auto&, auto& fields) { fields[1].blocks.clear(); });
  refuse("blocks", [](auto&, auto& fields) { fields[1].blocks.resize(2); });
  refuse("negative halo", [](auto&, auto& fields) { fields[1].halo.lower[0] = -1; });
  refuse("halo of 3", [](auto&, auto& fields) { fields[1].halo.lower[0] = 3; });
  refuse("more than 1 GiB",
      [](auto&, auto& fields) { fields[1].components = std::numeric_limits<int>::max(); });
}

CASE("a view needs one array per block") {
  const CartesianDomain domain({16, 16}, {.halo = 2, .blocks_per_rank = {2, 1}});
  std::vector<double> data(4096);
  auto* bytes = reinterpret_cast<std::byte*>(data.data());
  EXPECT_TRUE(holds(
      error_of([&] { view_blocks(domain, {bytes}, element_of<double>(), {.array_halo = 2}); }),
      "one array per block"));
}

CASE("a rank that owns nothing may pass a null pointer") {
  const int parts = ranks();
  Extents split(static_cast<std::size_t>(parts), 0);
  split.back() = 6;
  const CartesianDomain domain(
      {6}, {.halo = 2, .periodic = true, .process_grid = {parts}, .splits = {split}});
  std::vector<double> data(10);
  for (const Route& route : all_routes()) {
    if (holds(route.transport, "shared") || route.transport == "auto") continue;
    Exchange exchange(
        build_pattern(domain), {view(domain, last() ? data.data() : nullptr)}, {route.transport});
    exchange();
    exchange.reverse();
    const IndexedDomain cells(0, {});
    Exchange nothing(
        build_pattern(cells), {view(cells, static_cast<float*>(nullptr), 3)}, {route.transport});
    nothing();
    nothing.reverse();
  }
}

CASE("transports that do not exist, or cannot serve, are refused by name") {
  for (const std::string name :
      {"carrier_pigeon", "mpi+carrier_pigeon", "+", "mpi+", "shared+shared", "auto+auto"}) {
    const auto change = [&](auto&, auto&, ExchangeOptions& options) { options.transport = name; };
    refuse_fields("transport", change);
  }
}

CASE("patterns of different domains are noticed when the exchange is made") {
  if (ranks() == 1) return;
  std::vector<double> data(100000);
  const auto refuse = [&](const Extents& extents, const CartesianOptions& a,
                          const CartesianOptions& b, const Extents& others) {
    const CartesianDomain one(extents, a), other(others, b);
    const CartesianDomain& mine = last() ? other : one;
    for (const Route& route : all_routes()) {
      if (route.memory == Memory::node_shared) continue;
      check_refused(
          "", [&] { Exchange(build_pattern(mine), {view(mine, data.data())}, {route.transport}); });
    }
  };
  const int n = ranks();
  refuse({4 * n, 6}, {.process_grid = {n, 1}}, {.process_grid = {n, 1}}, {4 * n, 7});
  refuse({4 * n, 6}, {.process_grid = {n, 1}},
      {.process_grid = {n, 1}, .algorithm = Algorithm::by_dimension}, {4 * n, 6});
  refuse(
      {4 * n, 6}, {.process_grid = {n, 1}}, {.periodic = true, .process_grid = {n, 1}}, {4 * n, 6});
  // Equal sizes, different shapes: 1 × 6 cells here, 2 × 3 there.
  refuse({4 * n, 6}, {.halo = {1, 0}, .process_grid = {n, 1}},
      {.halo = {2, 0}, .process_grid = {n, 1}}, {4 * n, 3});
}

CASE("structured fields with an indexed pattern, and the other way round, are refused") {
  const CartesianDomain grid({16, 16});
  const IndexedDomain cells(4, {});
  std::vector<double> data(8192);
  check_refused(
      "indexed", [&] { Exchange(build_pattern(grid), {view(cells, data.data())}, {"mpi"}); });
  check_refused(
      "indexed", [&] { Exchange(build_pattern(cells), {view(grid, data.data())}, {"mpi"}); });
  if (ranks() > 1)
    check_refused("differ", [&, structured = build_pattern(grid), indexed = build_pattern(cells)] {
      if (last()) Exchange(structured, {view(grid, data.data())}, {"mpi"});
      else Exchange(indexed, {view(cells, data.data())}, {"mpi"});
    });
}

CASE("reductions that an element does not have are refused before anything moves") {
  const CartesianDomain domain({16, 16}, {.periodic = true});
  std::vector<std::complex<double>> data(4096);
  Exchange complex(build_pattern(domain), {view(domain, data.data())}, {"mpi"});
  check_refused("cannot be combined", [&] { complex.reverse(Reduction::min); });
  check_refused("cannot be combined", [&] { complex.reverse(Reduction::bit_and); });
  struct Opaque {
    char bytes[12];
  };
  std::vector<Opaque> things(4096);
  Exchange opaque(build_pattern(domain), {view(domain, things.data())}, {"mpi"});
  check_refused("cannot be combined", [&] { opaque.reverse(); });
  std::vector<float> numbers(4096);
  Exchange floats(build_pattern(domain), {view(domain, numbers.data())}, {"mpi"});
  check_refused("cannot be combined", [&] { floats.reverse(Reduction::bit_or); });
  EXPECT_FALSE(complex.under_way());
  complex.reverse();
  opaque.reverse(Reduction::replace);
  floats.reverse(Reduction::max);
}

CASE("wrong index maps are refused on every rank, though only one is wrong") {
  const auto refuse = [](const std::string& part, global_index owned,
                          std::vector<global_index> ghosts) {
    CAPTURE(part);
    check_refused(part,
        [&] { IndexedDomain(last() ? owned : 10, last() ? ghosts : std::vector<global_index>{}); });
  };
  const global_index cells = 10 * ranks(), mine = 10 * (ranks() - 1);
  refuse("-1", 10, {-1});
  refuse("outside", 10, {cells});
  refuse("outside", 10, {std::numeric_limits<global_index>::max()});
  refuse("outside", 10, {std::numeric_limits<global_index>::min()});
  refuse("this rank owns", 10, {mine + 3});
  refuse("cannot own -1", -1, {});
  refuse("exceed", global_index{1} << 31, {});
  refuse("exceed", std::numeric_limits<global_index>::max(), {0});
  if (ranks() < 2) return;
  refuse("this rank owns", 10, {0, mine + 9, 1});
  const IndexMap map(IndexedDomain(10, {}));
  std::vector<double> x(10);
  check_refused(" in forward, reverse or prepare, the first of such arrays by an index map", [&] {
    if (last()) map.forward({x});
    else IndexedDomain(10, {});
  });
}

CASE("wrong ownership is refused on every rank") {
  const auto refuse = [](const std::string& part, std::vector<global_index> owned,
                          std::vector<global_index> ghosts = {}) {
    CAPTURE(part);
    const global_index other = 1000 + rank();
    check_refused(part, [&] {
      IndexedDomain::with_owned_ids(last() ? owned : std::vector<global_index>{other},
          last() ? ghosts : std::vector<global_index>{});
    });
  };
  refuse("more than once", {7, 3, 7});
  if (ranks() > 1) refuse("more than once", {5, 1000});
  refuse("negative", {-5});
  refuse("no rank owns", {5, 9}, {7});
  refuse("outside", {5}, {1000 + ranks() + 5});
  refuse("this rank owns", {5}, {5});
  refuse("too large", {std::numeric_limits<global_index>::max()});
  refuse("too large", {global_index{1} << 62});
}

CASE("asking for the owner of an id that nobody has is an error on every rank") {
  const IndexedDomain domain =
      IndexedDomain::with_owned_ids({100 + 10 * rank(), 104 + 10 * rank()}, {});
  const std::vector<global_index> bad{101}, outside{5000}, good{100};
  if (ranks() > 1) check_refused("no rank owns", [&] { domain.owners_of(last() ? bad : good); });
  check_refused("does not exist", [&] { domain.owners_of(last() ? outside : good); });
}

CASE("errors of calls one after the other are told on every rank, each once") {
  const Communicator comm(MPI_COMM_WORLD);
  for (int i = 0; i < 20; ++i) {
    const std::string unlike = error_of([] { CartesianDomain({8, 8 + rank()}); });
    const std::string next =
        error_of([&] { collectively(comm, "the next call", [] { throw Error("of the next"); }); });
    EXPECT_TRUE(ranks() == 1 || holds(unlike, "differ between ranks"));
    EXPECT_TRUE(holds(next, "of the next"));
  }
}

CASE("communicators that cannot be used are refused") {
  EXPECT_TRUE(holds(error_of([] { Communicator{MPI_COMM_NULL}; }), "MPI_COMM_NULL"));
  if (ranks() < 2) return;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank() % 2, 7, &between);
  EXPECT_TRUE(holds(error_of([&] { Communicator{between}; }), "intercommunicator"));
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

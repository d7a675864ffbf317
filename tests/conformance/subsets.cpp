// Exchanges of a subset of the fields, or with a smaller depth.
#include <chrono>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

Communicator world() { return Communicator(MPI_COMM_WORLD); }

// Per side, the largest depth of these fields minus 1: valid for every field, narrower for most.
Only one_less(const CartesianDomain& domain, const ShortList<int, 16>& numbers,
    const std::vector<GridField>& fields) {
  Only only{.fields = numbers, .depth = 0};
  for (int d = 0; d < domain.dimensions(); ++d)
    for (const int f : numbers) {
      const HaloWidth& halo = fields[static_cast<std::size_t>(f)].spec().halo;
      only.depth.lower[d] = std::max(only.depth.lower[d], halo.lower[d] - 1);
      only.depth.upper[d] = std::max(only.depth.upper[d], halo.upper[d] - 1);
    }
  return only;
}

Field narrowed(Field view, const HaloWidth& depth) {
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    view.halo.lower[d] = std::min(view.halo.lower[d], depth.lower[d]);
    view.halo.upper[d] = std::min(view.halo.upper[d], depth.upper[d]);
  }
  return view;
}

// Checks that the subset changes `fields` as an exchange of the subset alone changes `twins`; all
// other fields stay unchanged.
template <class Fields>
void check_subset(const Pattern& pattern, Exchange& exchange, const Only& only, Fields& fields,
    Fields& twins, int round) {
  Exchange subset = exchange.only(only);
  std::vector<Field> alone;
  for (const int f : only.fields) {
    const Field view = twins[static_cast<std::size_t>(f)].view();
    alone.push_back(only.depth == HaloWidth(Only::as_made) ? view : narrowed(view, only.depth));
  }
  Exchange expected(pattern, alone, {"mpi"});
  const auto copies = [](const Fields& all) {
    std::vector<std::vector<std::byte>> bytes;
    for (const auto& field : all) bytes.push_back(field.copy());
    return bytes;
  };
  for (auto& field : fields)
    field.fill(Values::whole, round), field.fill_ghosts(Reduction::replace);
  const auto filled = copies(fields);  // faster than filling them again
  const auto after = [&](Fields& all, auto&& call) {
    for (std::size_t f = 0; f < all.size(); ++f) all[f].restore(filled[f]);
    call();
    return copies(all);
  };
  const auto forward = after(twins, [&] { expected(); }),
             reverse = after(twins, [&] { expected.reverse(Reduction::replace); });
  const auto check = [&](const char* what, const auto& right, auto&& call) {
    CAPTURE(what);
    EXPECT_TRUE(after(fields, call) == right);
    for (const auto& field : fields) EXPECT_TRUE(field.canaries_intact());
  };
  std::vector<Field> named;
  for (const int f : only.fields) named.push_back(fields[static_cast<std::size_t>(f)].view());
  check("forward", forward, [&] { subset(); });
  check("arrays named", forward, [&] { subset(named); });
  check("begin and end", forward, [&] { exchange.only(only).begin().end(); });
  check("reverse", reverse, [&] { subset.reverse(Reduction::replace); });
  check("begin and end of reverse", reverse,
      [&] { subset.begin_reverse(Reduction::replace, named).end(); });
}

// A periodic row of cells over all ranks, in three fields.
struct Ring {
  CartesianDomain domain{{8 * world().size()}, {.halo = 2, .periodic = true}};
  std::vector<Array<double>> u;
  Ring() {
    for (int f = 0; f < 3; ++f) u.push_back(make_array<double>(domain));
  }
  std::vector<Field> views() const { return {view(u[0]), view(u[1]), view(u[2])}; }
  void fill(double offset = 0) {
    for (int f = 0; f < 3; ++f)
      for (global_index x = domain.extended().lo[0]; x < domain.extended().hi[0]; ++x)
        u[static_cast<std::size_t>(f)](x) =
            x < domain.owned().lo[0] || x >= domain.owned().hi[0] ? -1 : offset + value(f, x);
  }
  double value(int f, global_index x) const {
    const global_index all = 8 * world().size();
    return f * 1000 + static_cast<double>((x + all) % all);
  }
  // Number of filled ghosts on each side of a field; −1 if other ghosts changed or a value is
  // wrong.
  int depth(int f, double offset = 0) {
    const Box own = domain.owned();
    const auto is = [&](global_index x) {
      return u[static_cast<std::size_t>(f)](x) == offset + value(f, x);
    };
    const auto empty = [&](global_index x) { return u[static_cast<std::size_t>(f)](x) == -1; };
    for (int depth = 0; depth <= 2; ++depth) {
      bool fits = true;
      for (int k = 1; k <= 2; ++k) {
        const global_index below = own.lo[0] - k, above = own.hi[0] + k - 1;
        fits = fits && (k <= depth ? is(below) && is(above) : empty(below) && empty(above));
      }
      if (fits) return depth;
    }
    return -1;
  }
};

}  // namespace

CASE(
    "over every transport, a subset of a grid's fields to a smaller depth is what an exchange made "
    "for it alone does") {
  int turn = 0;
  for (const GridCase& each : grid_cases(world().size())) {
    if (++turn % 3 != 0) continue;
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    const Pattern pattern = build_pattern(domain);
    for (const Route& route : routes_for(turn, 2)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, 4, turn, route.memory),
           twins = make_fields(domain, 4, turn, Memory::ordinary);
      Exchange exchange(pattern, views(fields), {route.transport});
      check_subset(pattern, exchange, Only{.fields = {2, 0}}, fields, twins, turn);
      check_subset(pattern, exchange, one_less(domain, {0, 1, 2, 3}, fields), fields, twins, turn);
      check_subset(pattern, exchange, one_less(domain, {3}, fields), fields, twins, turn);
    }
  }
}

CASE(
    "a subset of an exchange that goes dimension by dimension is what an exchange made for it "
    "alone does") {
  if (world().size() != 4 && world().size() != 8) return;  // process grid with diagonal neighbors
  const CartesianDomain domain({9, 8, 7},
      {.halo = 2, .periodic = {true, false, true}, .process_grid = {2, 2, world().size() / 4}});
  const Pattern pattern = build_pattern(domain);
  auto fields = make_fields(domain, 3, 0, Memory::ordinary),
       twins = make_fields(domain, 3, 0, Memory::ordinary);
  Exchange exchange(pattern, views(fields), {"by_dimension:mpi"});
  check_subset(pattern, exchange, Only{.fields = {2, 0}}, fields, twins, 0);
  check_subset(pattern, exchange, one_less(domain, {0, 1, 2}, fields), fields, twins, 1);
  for (int d = 0; d < 3; ++d) {
    Only flat{.fields = {1}, .depth = 2};
    flat.depth.lower[static_cast<std::size_t>(d)] = flat.depth.upper[static_cast<std::size_t>(d)] =
        0;
    check_subset(pattern, exchange, flat, fields, twins, 2 + d);
  }
}

CASE(
    "over every transport, a subset of the fields of an index map is what an exchange made for it "
    "alone does") {
  int turn = 0;
  for (const MeshCase& each : mesh_cases(world().size())) {
    if (++turn % 3 != 0) continue;
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    const Pattern pattern = build_pattern(domain);
    for (const Route& route : routes_for(turn, 2)) {
      CAPTURE(route.transport);
      auto fields = make_fields(domain, each.mesh, 3, turn, route.memory),
           twins = make_fields(domain, each.mesh, 3, turn, Memory::ordinary);
      Exchange exchange(pattern, views(fields), {route.transport});
      check_subset(pattern, exchange, Only{.fields = {2, 0}}, fields, twins, turn);
      check_subset(pattern, exchange, Only{.fields = {1}}, fields, twins, turn);
    }
  }
}

CASE("a subset of several groups leaves those out that it does not name") {
  Ring ring;
  Mesh mesh =
      Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(world().size()), 3));
  const auto next = static_cast<std::size_t>((world().rank() + 1) % world().size());
  const IndexedDomain cells(3, world().size() > 1
                                   ? std::vector<global_index>{mesh.owned[next].front()}
                                   : std::vector<global_index>{});
  std::vector<double> x(static_cast<std::size_t>(cells.size()), world().rank());
  Exchange exchange({{build_pattern(ring.domain), {view(ring.u[0]), view(ring.u[1])}},
      {build_pattern(cells), {view(cells, x.data())}}});
  ring.fill();
  exchange.only({.fields = {2}})();
  EXPECT_EQ(ring.depth(0), 0);
  if (world().size() > 1) EXPECT_EQ(x.back(), static_cast<double>(next));
  exchange.only({.fields = {1}, .depth = 1})();
  EXPECT_EQ(ring.depth(0), 0);
  EXPECT_EQ(ring.depth(1), 1);
  exchange.only({.depth = 1})();
  EXPECT_EQ(ring.depth(0), 1);
  EXPECT_TRUE(holds(
      error_of([&] { exchange.only({.fields = {2}, .depth = 1}); }), "index maps have no depth"));
}

CASE(
    "the whole and its subsets may be under way at once, in any order of their ends, and steps "
    "outlive their handles") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    if (!takes_any_array(route)) continue;
    Ring ring;
    Exchange exchange(build_pattern(ring.domain), ring.views(), {route.transport});
    for (int round = 0; round < 3; ++round) {
      ring.fill();
      auto first = exchange.only({.fields = {0}}).begin();
      auto second = exchange.only({.fields = {2, 1}, .depth = 1}).begin();
      first.end();
      second.end();
      EXPECT_EQ(ring.depth(0), 2);
      EXPECT_EQ(ring.depth(1), 1);
      EXPECT_EQ(ring.depth(2), 1);
      exchange();
      EXPECT_EQ(ring.depth(1), 2);
    }
  }
}

CASE(
    "equal subsets are one exchange, all of it is the exchange itself, and a subset outlives the "
    "whole") {
  Ring ring;
  auto whole = std::make_unique<Exchange>(build_pattern(ring.domain), ring.views());
  Exchange subset = whole->only({.fields = {1}, .depth = {1}});
  EXPECT_EQ(&subset.plan(), &whole->only({.fields = {1}, .depth = {1}}).plan());
  EXPECT_EQ(&whole->plan(), &whole->only({.fields = {0, 1, 2}, .depth = 2}).plan());
  EXPECT_EQ(&whole->plan(), &whole->only({}).plan());
  EXPECT_NE(&whole->plan(), &whole->only({.fields = {1, 0, 2}}).plan());
  EXPECT_EQ(subset.plan().bytes_sent() * 6, whole->plan().bytes_sent());
  EXPECT_EQ(subset.transport(), whole->transport());
  EXPECT_TRUE(holds(subset.explain(), "field 1 to a depth of 1"));
  EXPECT_TRUE(holds(
      whole->only({.fields = {1, 2}}).only({.fields = {0}}).explain(), "field 1 to a depth of 2"));
  EXPECT_TRUE(holds(
      error_of([&] { whole->only({.fields = {0}}).refusal(Direction::forward, ArrayList()); }),
      "call prepare first"));
  whole->only({.fields = {2}}).prepare();
  ring.fill();
  whole.reset();
  subset();
  subset.only({.depth = 0})();
  EXPECT_EQ(ring.depth(1), 1);
  EXPECT_EQ(ring.depth(0), 0);
}

CASE("the arrays of the construction may be gone when a subset is first used with others") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    if (!takes_any_array(route)) continue;
    auto old = std::make_unique<Ring>();
    Exchange exchange(build_pattern(old->domain), old->views(), {route.transport});
    old.reset();
    Ring ring;
    for (int round = 0; round < 2; ++round) {
      ring.fill();
      exchange.only({.fields = {2, 0}, .depth = 1})(view(ring.u[2]), view(ring.u[0]));
      EXPECT_EQ(ring.depth(0), 1);
      EXPECT_EQ(ring.depth(1), 0);
      EXPECT_EQ(ring.depth(2), 1);
    }
  }
}

CASE("subsets that there are not are refused, and so are their arrays, alone") {
  Ring ring;
  Exchange exchange(build_pattern(ring.domain), ring.views());
  const auto refused = [&](const Only& only) { return error_of([&] { exchange.only(only); }); };
  EXPECT_TRUE(holds(
      refused({.fields = {3}}), "there is no field 3 in this exchange: it has fields 0 to 2"));
  EXPECT_TRUE(holds(refused({.fields = {-1}}), "there is no field -1"));
  EXPECT_TRUE(holds(refused({.fields = {1, 1}}), "field 1 is named twice"));
  EXPECT_TRUE(holds(refused({.depth = 3}),
      "a depth of 3 in dimension 0, where the widest halo of these fields is 2"));
  EXPECT_TRUE(holds(refused({.depth = -2}), "a depth of -2"));
  EXPECT_TRUE(holds(refused({.depth = {1, 1}}), "given for 2 dimensions of 1"));
  Exchange subset = exchange.only({.fields = {0, 2}});
  subset();
  EXPECT_TRUE(holds(error_of([&] { subset(view(ring.u[0])); }),
      "1 arrays were passed, but the exchange needs 2"));
  EXPECT_TRUE(holds(error_of([&] { subset(view(ring.u[0]), view(ring.u[0])); }), "share memory"));
  EXPECT_TRUE(holds(error_of([&] { subset.end(); }), "no exchange is under way"));
  ring.fill();
  subset();
  EXPECT_EQ(ring.depth(2), 2);
}

CASE("ranks that use different subsets for the first time are told, all of them, and can go on") {
  Ring ring;
  Exchange exchange(build_pattern(ring.domain), ring.views());
  const int mine = world().rank() == 0 ? 0 : 1;
  const std::string told = error_of([&] { exchange.only({.fields = {mine}})(); });
  if (world().size() > 1) {
    EXPECT_TRUE(holds(told, "the subsets of the exchange differ between ranks"));
    EXPECT_TRUE(holds(told, "field 0"));
    EXPECT_TRUE(holds(told, "field 1"));
  }
  ring.fill();
  exchange.only({.fields = {1}})();
  exchange();
  EXPECT_EQ(ring.depth(1), 2);
}

CASE("ranks that disagree write nothing where it does not belong, and the time limit ends it") {
  if (world().size() == 1) return;
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    if (!takes_any_array(route) || route.transport == "auto") continue;
    Ring ring;
    Exchange exchange(
        build_pattern(ring.domain), ring.views(), {.transport = route.transport, .timeout_s = 0.3});
    exchange.only({.fields = {0}}).prepare();
    exchange.only({.fields = {1}, .depth = 1}).prepare();
    ring.fill();
    const bool odd = world().rank() == 0;
    const std::string told = error_of(
        [&] { exchange.only(odd ? Only{.fields = {0}} : Only{.fields = {1}, .depth = 1})(); });
    if (world().size() == 2 || odd) EXPECT_TRUE(holds(told, "no answer within"));
    EXPECT_EQ(ring.depth(2), 0);
    EXPECT_EQ(ring.depth(odd ? 1 : 0), 0);
    for (global_index x = ring.domain.owned().lo[0]; x < ring.domain.owned().hi[0]; ++x)
      for (int f = 0; f < 3; ++f)
        EXPECT_EQ(ring.u[static_cast<std::size_t>(f)](x), ring.value(f, x));
    MPI_Barrier(MPI_COMM_WORLD);  // arrays must outlive all pending operations
  }
}

CASE("in checked mode ranks that disagree are told at once who asked for what") {
  if (world().size() == 1) return;
  const bool odd = world().rank() == 0;
  const auto disagree = [&](const char* name, auto&& one, auto&& other, const std::string& his,
                            const std::string& theirs) {
    for (const Route& route : all_routes()) {
      CAPTURE(route.transport);
      CAPTURE(name);
      if (!takes_any_array(route) || route.transport == "auto") continue;
      Ring ring;
      ExchangeOptions options{.transport = route.transport, .timeout_s = 60};
      options.check = true;
      Exchange exchange(build_pattern(ring.domain), ring.views(), options);
      exchange();
      exchange.only({.fields = {1}})();
      const auto start = std::chrono::steady_clock::now();
      const std::string told = error_of([&] { odd ? one(exchange) : other(exchange); });
      const bool neighbor = odd || world().rank() == 1 || world().rank() == world().size() - 1;
      if (neighbor) {
        EXPECT_TRUE(holds(told, "has made call 4 of this exchange for"));
        EXPECT_TRUE(holds(told, his));
        EXPECT_TRUE(holds(told, theirs));
      }
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  };
  const auto all = [](Exchange& exchange) { exchange(); };
  disagree(
      "fields", all, [](Exchange& exchange) { exchange.only({.fields = {1}})(); }, "all fields",
      "field 1 to a depth of 2");
  disagree(
      "direction", all, [](Exchange& exchange) { exchange.reverse(); }, "a forward exchange",
      "a reverse exchange (sum)");
  disagree(
      "reduction", [](Exchange& exchange) { exchange.reverse(Reduction::max); },
      [](Exchange& exchange) { exchange.reverse(); }, "a reverse exchange (max)",
      "a reverse exchange (sum)");
  disagree(
      "halves", [](Exchange& exchange) { exchange.begin().end(); },
      [](Exchange& exchange) { exchange.only({.fields = {1}}).begin().end(); }, "all fields",
      "field 1");
}

CASE("in checked mode a first use and a call of what there is are told apart") {
  if (world().size() != 2) return;  // other ranks would block in the first call
  Ring ring;
  ExchangeOptions options{.timeout_s = 60};
  options.check = true;
  Exchange exchange(build_pattern(ring.domain), ring.views(), options);
  const std::string told =
      error_of([&] { world().rank() == 0 ? exchange() : exchange.only({.fields = {2}})(); });
  EXPECT_TRUE(holds(told, "the first use of field 2"));
  EXPECT_TRUE(holds(told, "a forward exchange of all fields"));
}

CASE("in checked mode ranks that agree exchange as ever, and begin waits for nobody") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    if (!takes_any_array(route)) continue;
    Ring ring;
    ExchangeOptions options{.transport = route.transport, .timeout_s = 60};
    options.check = true;
    Exchange exchange(build_pattern(ring.domain), ring.views(), options);
    exchange.only({.fields = {1}, .depth = 1}).prepare();
    for (int round = 0; round < 20; ++round) {
      ring.fill(round);
      auto step = exchange.only({.fields = {1}, .depth = 1}).begin();
      if (round % 4 == 0 && world().size() == 2 &&
          world().rank() == 0) {  // the neighbor begins later
        int late = 0;
        MPI_Recv(&late, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      step.end();
      if (round % 4 == 0 && world().size() == 2 && world().rank() == 1)
        MPI_Send(&round, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      EXPECT_EQ(ring.depth(1, round), 1);
      exchange();
      for (int f = 0; f < 3; ++f) EXPECT_EQ(ring.depth(f, round), 2);
      exchange.reverse(Reduction::replace);
    }
  }
}

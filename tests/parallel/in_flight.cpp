// Several pending exchanges in any order, and every way in which C++ can end a step.
#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Exchanges of one field each, over different routes.
struct Flight {
  CartesianDomain domain;
  std::deque<GridField> fields;
  std::deque<Exchange> exchanges;

  Flight(const CartesianOptions& options, int count, int turn) : domain({11, 9}, options) {
    const Pattern pattern = build_pattern(domain);
    const auto routes = all_routes();
    for (int i = 0; i < count; ++i) {
      const Route& route = routes[static_cast<std::size_t>(turn + i) % routes.size()];
      fields.emplace_back(
          domain, GridSpec{{Scalar::int32, 4}, 1 + i % 2, domain.halo()}, i, route.memory);
      exchanges.emplace_back(
          pattern, std::vector<Field>{fields.back().view()}, ExchangeOptions{route.transport});
    }
  }
  void fill(int round) {
    for (auto& field : fields) field.fill(Values::bits, round), field.expect_forward();
  }
  void check() {
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  }
};

std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

const CartesianOptions standard{.halo = 2, .periodic = true};
const CartesianOptions staged{.halo = 2, .periodic = true, .algorithm = Algorithm::by_dimension};

}  // namespace

CASE("exchanges under way at once end in another order than they began") {
  for (const CartesianOptions& options : {standard, staged}) {
    Flight flight(options, 6, 0);
    Random random(7);  // same seed on all ranks
    for (int round = 0; round < 8; ++round) {
      flight.fill(round);
      const auto order = shuffled(flight.exchanges.size(), random);
      std::deque<Exchange::Step> steps;
      for (auto& exchange : flight.exchanges) steps.push_back(exchange.begin());
      for (std::size_t i : order) flight.exchanges[i].end();
      flight.check();
    }
  }
}

CASE("ranks may begin and end their exchanges in different orders") {
  for (const CartesianOptions& options : {standard, staged}) {
    Flight flight(options, 5, 2);
    Random random(mix(11, static_cast<std::uint64_t>(Communicator(MPI_COMM_WORLD).rank())));
    for (int round = 0; round < 8; ++round) {
      flight.fill(round);
      std::deque<Exchange::Step> steps;
      for (std::size_t i : shuffled(flight.exchanges.size(), random))
        steps.push_back(flight.exchanges[i].begin());
      for (std::size_t i : shuffled(steps.size(), random)) steps[i].end();
      flight.check();
    }
  }
}

CASE("a forward and a reverse exchange run side by side on one pattern") {
  const CartesianDomain domain({11, 9}, standard);
  const Pattern pattern = build_pattern(domain);
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    auto fields = make_fields(domain, 2, 1, route.memory, {{Scalar::int64, 8}});
    Exchange forward(pattern, {fields[0].view()}, {route.transport}),
        reverse(pattern, {fields[1].view()}, {route.transport});
    fields[0].fill(Values::bits, 0), fields[0].expect_forward();
    fields[1].fill(Values::whole, 0), fields[1].fill_ghosts(Reduction::sum),
        fields[1].expect_reverse(Reduction::sum);
    auto back = reverse.begin_reverse();
    auto there = forward.begin();
    back.end();
    there.end();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  }
}

CASE("an exchange under way does not begin again, and one that is not does not end") {
  Flight flight(standard, 1, 0);
  Exchange& exchange = flight.exchanges[0];
  EXPECT_TRUE(holds(error_of([&] { exchange.end(); }), "no exchange is under way"));
  flight.fill(0);
  auto step = exchange.begin();
  EXPECT_TRUE(exchange.under_way());
  EXPECT_TRUE(holds(error_of([&] { static_cast<void>(exchange.begin()); }), "under way"));
  EXPECT_TRUE(holds(error_of([&] { static_cast<void>(exchange.begin_reverse()); }), "under way"));
  step.end();
  EXPECT_FALSE(exchange.under_way());
  EXPECT_TRUE(holds(error_of([&] { step.end(); }), "end a step once"));
  EXPECT_TRUE(holds(error_of([&] { exchange.end(); }), "no exchange is under way"));
  flight.check();
}

CASE("a step that is forgotten ends by itself, a moved one ends once") {
  Flight flight(standard, 1, 1);
  Exchange& exchange = flight.exchanges[0];
  flight.fill(0);
  {
    auto step = exchange.begin();
  }
  EXPECT_FALSE(exchange.under_way());
  flight.check();
  flight.fill(1);
  auto first = exchange.begin();
  auto second = std::move(first);
  EXPECT_TRUE(holds(error_of([&] { first.end(); }), "moved from"));
  EXPECT_TRUE(exchange.under_way());
  second.end();
  flight.check();
}

CASE("a step does not end a later exchange than its own") {
  Flight flight(standard, 1, 2);
  Exchange& exchange = flight.exchanges[0];
  flight.fill(0);
  auto late = [&] {
    auto early = exchange.begin();
    exchange.end();
    return exchange.begin();  // destroys `early`
  }();
  EXPECT_TRUE(exchange.under_way());
  late.end();
  flight.check();
  auto old = exchange.begin();
  exchange.end();
  auto now = exchange.begin();
  EXPECT_TRUE(holds(error_of([&] { old.end(); }), "end a step once"));
  now.end();
}

CASE("an exchange may be moved, or destroyed before its step ends") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    const CartesianDomain domain({11, 9}, standard);
    auto fields = make_fields(domain, 2, 0, route.memory);
    std::optional<Exchange> exchange(
        std::in_place, build_pattern(domain), views(fields), ExchangeOptions{route.transport});
    for (auto& field : fields) field.fill(Values::bits, 0), field.expect_forward();
    auto step = exchange->begin();
    Exchange moved = std::move(*exchange);
    step.end();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
    for (auto& field : fields) field.fill(Values::bits, 1), field.expect_forward();
    exchange.emplace(std::move(moved));
    auto last = exchange->begin();
    exchange.reset();
    last.end();
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
  }
}

CASE("making an exchange changes no array") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    const CartesianDomain domain({11, 9}, staged);
    auto fields = make_fields(domain, 3, 0, route.memory);
    for (auto& field : fields) field.fill(Values::bits, 0), field.fill_ghosts(Reduction::sum);
    const Exchange exchange(build_pattern(domain), views(fields), {route.transport});
    for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
    EXPECT_TRUE(holds(exchange.explain(), exchange.transport()));
  }
}

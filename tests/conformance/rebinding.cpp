// Arrays passed to the call: swapped, reallocated, different per rank, of other memory kinds.
#include <deque>

#include "support/cases.hpp"
#include "support/cells.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// The XPMEM stand-in maps one kind only.
Memory other_memory(const Route& route) {
  if (!takes_any_array(route)) return route.memory;
  return route.memory == Memory::ordinary ? Memory::node_shared : Memory::ordinary;
}

// Random choices of this rank alone: no other rank knows which arrays it passes.
Random own_random(int turn) {
  return Random(mix(static_cast<std::uint64_t>(turn),
      static_cast<std::uint64_t>(Communicator(MPI_COMM_WORLD).rank())));
}

// Exchanges `rounds` times, with arrays of `levels` or with temporaries that live for one exchange.
// The first set is the one that the constructor received.
template <class Sets, class Make>
void exchange_many(Exchange& exchange, Sets& levels, Make&& make, const Route& route, bool staged,
    int turn, int rounds) {
  Random random = own_random(turn);
  std::deque<typename Sets::value_type> kept;
  for (int round = 0; round < rounds; ++round) {
    const int which =
        random.between(0, static_cast<int>(levels.size()));  // the last index means temporaries
    auto& temporary =
        kept.emplace_back(make(random.chance(50) ? route.memory : other_memory(route)));
    if (route.memory != Memory::elsewhere && kept.size() > 1)
      kept.pop_front();  // the XPMEM stand-in does not track freed memory
    auto& fields = which < static_cast<int>(levels.size()) ? levels[static_cast<std::size_t>(which)]
                                                           : temporary;
    const bool by_default = which == 0 && random.chance(50);
    const bool reverse = round % 4 == 3, in_halves = round % 3 == 1;
    for (auto& field : fields) {
      field.fill(reverse ? Values::whole : Values::bits, round);
      if (reverse) field.fill_ghosts(Reduction::replace), field.expect_reverse(Reduction::replace);
      else field.expect_forward();
    }
    const std::vector<Field> given = by_default ? std::vector<Field>{} : views(fields);
    if (reverse && in_halves) exchange.begin_reverse(Reduction::replace, given).end();
    else if (reverse) exchange.reverse(Reduction::replace, given);
    else if (in_halves) exchange.begin(given).end();
    else exchange(given);
    for (auto& field : fields) {
      if constexpr (requires { field.accept_ghosts(); })
        if (staged && reverse) field.accept_ghosts();
      EXPECT_EQ(field.difference(), "");
      EXPECT_TRUE(field.canaries_intact());
    }
  }
}

template <class Make>
void check_rebinding(
    const Pattern& pattern, Make&& make, const Route& route, bool staged, int turn) {
  CAPTURE(route.transport);
  std::vector<decltype(make(route.memory))> levels;
  for (int level = 0; level < 3; ++level) levels.push_back(make(route.memory));
  levels.push_back(make(other_memory(route)));
  Exchange exchange(pattern, views(levels[0]), {route.transport});
  exchange_many(exchange, levels, make, route, staged, turn, 12);
}

// A periodic row of cells; every rank has ghosts.
struct Row {
  CartesianDomain domain{{64}, {.halo = 2, .periodic = true}};
  std::vector<double> u, v;
  Row() : u(size(), -1), v(size(), -1) {}
  std::size_t size() const { return static_cast<std::size_t>(domain.owned().extent(0)) + 4; }
  void fill(std::vector<double>& array, double offset) const {
    std::fill(array.begin(), array.end(), -1);
    for (global_index x = 0; x < domain.owned().extent(0); ++x)
      array[static_cast<std::size_t>(x) + 2] =
          offset + static_cast<double>(domain.owned().lo[0] + x);
  }
  bool is_filled(const std::vector<double>& array, double offset) const {
    for (std::size_t i = 0; i < size(); ++i) {
      const global_index x = (domain.owned().lo[0] + static_cast<global_index>(i) - 2 + 64) % 64;
      if (array[i] != offset + static_cast<double>(x)) return false;
    }
    return true;
  }
};

}  // namespace

CASE(
    "over every transport, an exchange of a grid fills whatever arrays of its layouts a rank "
    "names") {
  int turn = 0;
  for (const GridCase& each : grid_cases(Communicator(MPI_COMM_WORLD).size())) {
    CAPTURE(each.name);
    const CartesianDomain domain(each.extents, each.options);
    const Pattern pattern = build_pattern(domain);
    for (const Route& route : routes_for(turn, 2)) {
      if (turn % 3 != 0) break;
      const auto make = [&](Memory memory) {
        return make_fields(domain, 1 + turn % 5, turn, memory);
      };
      check_rebinding(pattern, make, route, domain.algorithm() == Algorithm::by_dimension, turn);
    }
    ++turn;
  }
}

CASE(
    "over every transport, an exchange of an index map fills whatever arrays of its layouts a rank "
    "names") {
  int turn = 0;
  for (const MeshCase& each : mesh_cases(Communicator(MPI_COMM_WORLD).size())) {
    CAPTURE(each.name);
    const IndexedDomain domain = each.mesh.domain(each.self);
    const Pattern pattern = build_pattern(domain);
    for (const Route& route : routes_for(turn, 2)) {
      if (turn % 3 != 0) break;
      const auto make = [&](Memory memory) {
        return make_fields(domain, each.mesh, 1 + turn % 5, turn, memory);
      };
      check_rebinding(pattern, make, route, false, turn);
    }
    ++turn;
  }
}

CASE("time levels are swapped by naming them, views or a vector of views") {
  Row row;
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    Row held;  // keeps arrays alive for transports inside a node
    auto shared_u = make_array<double>(row.domain), shared_v = make_array<double>(row.domain);
    const bool any = route.memory == Memory::ordinary;
    const Field first = any ? view(row.domain, held.u.data()) : view(shared_u);
    if (!takes_any_array(route)) continue;
    Exchange exchange(build_pattern(row.domain), {first}, {route.transport});
    for (int round = 0; round < 4; ++round) {
      row.fill(row.u, round), row.fill(row.v, 1000 + round);
      exchange(view(row.domain, row.u.data()));
      exchange(std::vector<Field>{view(row.domain, row.v.data())});
      EXPECT_TRUE(row.is_filled(row.u, round));
      EXPECT_TRUE(row.is_filled(row.v, 1000 + round));
      std::swap(row.u, row.v);
      row.fill(row.u, 5 + round);
      exchange.begin(view(row.domain, row.u.data())).end();
      EXPECT_TRUE(row.is_filled(row.u, 5 + round));
    }
  }
}

CASE("node-shared memory that is given back and comes again at the same address is another array") {
  const CartesianDomain domain({32, 32}, {.halo = 1, .periodic = true});
  auto first = make_array<double>(domain);
  Exchange exchange(build_pattern(domain), {view(first)}, {"shared+mpi"});
  std::vector<const void*> places;
  int again = 0;
  for (int round = 0; round < 40; ++round) {
    auto u = make_array<double>(domain);
    again += !places.empty() && places.back() == u.data();
    places.push_back(u.data());
    for_each_cell(domain.owned(),
        [&](const Coordinates& x) { u.at(x) = round + static_cast<double>(x[0] * 32 + x[1]); });
    exchange(view(u));
    int wrong = 0;
    for_each_cell(domain.extended(), [&](const Coordinates& x) {
      wrong += u.at(x) != round + static_cast<double>((x[0] + 32) % 32 * 32 + (x[1] + 32) % 32);
    });
    EXPECT_EQ(wrong, 0);
    for (int other = 0; other < 11; ++other)
      allocate_node_shared(64);  // twelve different offsets of arrays within a page
  }
  EXPECT_GT(again, 0);
}

CASE("arrays of another layout are refused with what differs, alone, and the exchange goes on") {
  Row row;
  const CartesianDomain wider({64}, {.halo = 3, .periodic = true});
  std::vector<float> narrow(row.size());
  std::vector<double> two(2 * row.size()), wide(row.size() + 2);
  Exchange exchange(
      build_pattern(row.domain), {view(row.domain, row.u.data()), view(row.domain, row.v.data())});
  const Field u = view(row.domain, row.u.data()), v = view(row.domain, row.v.data());
  const auto refused = [&](const Field& first, const Field& second) {
    return error_of([&] { exchange(first, second); });
  };
  EXPECT_TRUE(holds(refused(view(row.domain, narrow.data()), v),
      "array 0 has elements of type float32, but the exchange needs float64"));
  EXPECT_TRUE(holds(refused(u, view(row.domain, two.data(), ArrayLayout{Order::c, 2})),
      "array 1 has 2 components per cell"));
  EXPECT_TRUE(holds(refused(u, view(wider, wide.data())), "array 1 has another halo"));
  EXPECT_TRUE(
      holds(error_of([&] { exchange(u); }), "1 arrays were passed, but the exchange needs 2"));
  EXPECT_TRUE(holds(
      refused(u, view(row.domain, static_cast<double*>(nullptr))), "array 1 is a null pointer"));
  Field strided = u;
  strided.blocks[0].strides[0] = 16;
  EXPECT_TRUE(holds(refused(u, strided), "array 1 has a stride of 16 bytes in dimension 0"));
  EXPECT_TRUE(holds(refused(u, u), "share memory"));
  EXPECT_TRUE(holds(refused(u, view(row.domain, row.u.data() + 1)), "share memory"));
  EXPECT_TRUE(holds(error_of([&] {
    auto step = exchange.begin(v, u);
    exchange.begin(u, v).end();
  }),
      "under way"));
  row.fill(row.u, 0), row.fill(row.v, 100);
  exchange(v, u);
  EXPECT_TRUE(row.is_filled(row.u, 0));
  EXPECT_TRUE(row.is_filled(row.v, 100));
}

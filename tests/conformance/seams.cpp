// Grids with seams: all transports and memory kinds give the bytes of plain messages, which
// interfaces/python/programs/seams.py compares with a model.
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"
#include "support/world.hpp"

using namespace test;

namespace {

// Joins sides of n × n tiles in random pairs; some stay open, some are folded.
std::vector<Seam> random_seams(Random& random, int tiles) {
  std::vector<TileSide> sides;
  for (int tile = 0; tile < tiles; ++tile)
    for (const int axis : {1, 2})
      for (const Side side : {Side::lower, Side::upper}) sides.push_back({axis, side, tile});
  std::vector<Seam> seams;
  while (!sides.empty()) {
    const TileSide from = sides.back();
    sides.pop_back();
    if (random.chance(15)) continue;
    const auto along = static_cast<std::uint8_t>(1u << (3 - from.axis));
    if (sides.empty() || random.chance(15)) {
      seams.push_back({from, from, {}, along});
      continue;
    }
    const std::size_t at = random.next() % sides.size();
    seams.push_back({from, sides[at], {}, random.chance(50) ? along : std::uint8_t{0}});
    sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return seams;
}

CartesianDomain random_tiles(Random& random) {
  const int tiles = random.between(1, 6), cells = random.between(4, 8);
  const bool levels = random.chance(50);
  std::vector<global_index> extents{tiles, cells, cells};
  if (levels) extents.push_back(random.between(1, 3));
  CartesianOptions options{
      .seams = tiles == 6 && random.chance(50) ? cube_seams() : random_seams(random, tiles),
      .tile_axis = 0};
  options.halo = HaloWidth(0);
  for (const std::size_t axis : {1u, 2u}) {
    options.halo.lower[axis] = random.between(0, (cells - 1) / 2);
    options.halo.upper[axis] = random.between(0, (cells - 1) / 2);
  }
  if (ranks() < 4) options.blocks_per_rank.assign(extents.size(), random.between(1, 2));
  return {extents, options};
}

CartesianDomain random_fold(Random& random) {
  const int axis = random.between(0, 1);
  CartesianOptions options{.halo = random.between(1, 2)};
  options.periodic.along[static_cast<std::size_t>(1 - axis)] = random.chance(50);
  options.seams = {fold(axis, random.chance(50) ? Side::lower : Side::upper,
      random.chance(50) ? Pivot::corner : Pivot::center)};
  return {{random.between(4, 9), random.between(4, 9), random.between(1, 3)}, options};
}

// A scalar, and a vector in the plane of the seams.
std::vector<GridSpec> random_specs(Random& random, const CartesianDomain& domain) {
  const Element element = random.pick(
      std::vector<Element>{{Scalar::float64, 8}, {Scalar::int32, 4}, {Scalar::complex64, 8}});
  const auto layout = static_cast<Layout>(random.between(0, 2));
  const std::size_t first = domain.tile_axis() == 0 ? 1 : 0;
  std::vector<GridSpec> specs(
      3, GridSpec{element, random.between(1, 2), domain.halo(), layout, {}, 0});
  const int points = random.between(0, 3);
  for (const std::size_t d : {0u, 1u}) {
    specs[0].stagger.along[first + d] = points % 2;
    specs[1].stagger.along[first + d] = points == 3 || points == (d == 0 ? 1 : 2);
    specs[2].stagger.along[first + d] = points == 3 || points == (d == 0 ? 2 : 1);
  }
  return specs;
}

struct Fields {
  std::vector<GridField> of;
  std::vector<Field> views;

  Fields(const CartesianDomain& domain, const std::vector<GridSpec>& specs, Memory memory) {
    of.reserve(specs.size());
    const int first = domain.tile_axis() == 0 ? 1 : 0;
    for (std::size_t f = 0; f < specs.size(); ++f) {
      of.emplace_back(domain, specs[f], static_cast<int>(f), memory);
      views.push_back(of.back().view());
      if (f == 0) continue;
      views.back().vector = 1;
      views.back().along = static_cast<std::int8_t>(first + static_cast<int>(f) - 1);
    }
  }
  void fill(int round) {
    for (GridField& field : of) field.fill(Values::whole, round);
  }
};

// Checks that `call` leaves the same bytes in both.
template <class Call>
void expect_equal(Fields& one, Fields& other, const char* what, Call&& call) {
  call(one), call(other);
  CAPTURE(what);
  for (std::size_t f = 0; f < one.of.size(); ++f) {
    CAPTURE(f);
    EXPECT_TRUE(one.of[f].copy() == other.of[f].copy());
    EXPECT_TRUE(one.of[f].canaries_intact());
  }
}

void check(Random& random, const CartesianDomain& domain) {
  const Route route = random.pick(all_routes());
  CAPTURE(route.transport);
  CAPTURE(describe(build_pattern(domain)));
  const auto specs = random_specs(random, domain);
  Fields fields(domain, specs, route.memory), plain(domain, specs, Memory::ordinary);
  Exchange exchange(domain, fields.views, {route.transport});
  Exchange by_messages(domain, plain.views, {"mpi"});
  const auto of = [&](Fields& each) -> Exchange& {
    return &each == &fields ? exchange : by_messages;
  };
  for (int round = 0; round < 2; ++round) {
    fields.fill(round), plain.fill(round);
    expect_equal(fields, plain, "forward", [&](Fields& each) { of(each)(); });
    expect_equal(fields, plain, "reverse", [&](Fields& each) { of(each).reverse(Reduction::sum); });
    expect_equal(fields, plain, "in two halves", [&](Fields& each) {
      Step step = of(each).begin();
      while (!step.test()) {
      }
      step.end();
    });
  }
}

}  // namespace

CASE("random seams of tiles: every transport and memory gives the bytes of plain messages") {
  for_random_cases(affordable(60), [](Random& random) { check(random, random_tiles(random)); });
}

CASE("folds: every transport and memory gives the bytes of plain messages") {
  for_random_cases(affordable(40), [](Random& random) { check(random, random_fold(random)); });
}

CASE("a point of many tiles is read by blocks that lie away from it in some of them") {
  Random random(mix(200774, 2));
  check(random, random_tiles(random));
}

CASE("a fold about centers sends no periodic copies of its line") {
  const int size = ranks();
  const CartesianDomain domain(
      {12, 4 * size, 8}, {.periodic = {true, false, true},
                             .process_grid = {1, size, 1},
                             .seams = {fold(1, Side::upper, Pivot::center)}});
  const int at = domain.coordinates()[1];
  EXPECT_EQ(cells_sent(build_pattern(domain)), 12 * 8 * ((at > 0) + (at + 1 < size)));
}

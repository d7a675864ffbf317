// Redistribution between domains of the same cells: other process grids, splits, blocks,
// partitions, and ranks without cells.
#include <numeric>

#include "support/cases.hpp"
#include "support/cells.hpp"
#include "support/exchanging.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

std::uint64_t key(const Coordinates& x, int c, int salt) {
  return mix(static_cast<std::uint64_t>(x[0]), static_cast<std::uint64_t>(x[1] * 1000 + x[2]),
      static_cast<std::uint64_t>(c * 100 + salt));
}

// Splits `extent` at random among `ranks`; parts may be empty.
std::vector<global_index> some_split(Random& random, global_index extent, int ranks) {
  std::vector<global_index> cuts{0, extent};
  for (int r = 1; r < ranks; ++r) cuts.push_back(random.between(0, static_cast<int>(extent)));
  std::sort(cuts.begin(), cuts.end());
  std::vector<global_index> cells;
  for (std::size_t i = 1; i < cuts.size(); ++i) cells.push_back(cuts[i] - cuts[i - 1]);
  return cells;
}

CartesianDomain some_domain(Random& random, const std::vector<global_index>& extents) {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  CartesianOptions options{.halo = random.between(0, 2)};
  if (random.chance(30)) options.boundary = Boundary::owned;
  options.process_grid.assign(extents.size(), 1);
  for (int left = ranks, factor = 2; left > 1; ++factor)
    for (; left % factor == 0; left /= factor)
      options.process_grid[random.next() % extents.size()] *= factor;
  if (random.chance(50)) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      options.splits.push_back(some_split(random, extents[d], options.process_grid[d]));
  } else if (random.chance(50)) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      options.blocks_per_rank.push_back(random.between(1, 2));
  }
  return {extents, options};
}

// Axis d of the grid is axis axes[d] of the source grid.
using Axes = std::vector<int>;
const Axes as_they_are{0, 1, 2};

// Writes the values of a box's cells to an array whose first cell is `first`.
void write_box(WatchedBytes& memory, const Field& field, std::size_t block, const Box& box,
    const Coordinates& first, int salt, bool expected, const Axes& axes = as_they_are) {
  for_each_cell(box, [&](const Coordinates& x) {
    Coordinates there{};
    for (std::size_t d = 0; d < axes.size(); ++d) there[static_cast<std::size_t>(axes[d])] = x[d];
    for (int c = 0; c < field.components; ++c) {
      std::byte* at = field.blocks[block].first + c * field.stride_of_components(block);
      for (std::size_t d = 0; d < max_dimensions; ++d)
        at += (x[d] - first[d]) * field.blocks[block].strides[d];
      write_bits(expected ? memory.expected(at) : at, static_cast<std::size_t>(field.element.size),
          key(there, c, salt));
    }
  });
}

// One array per block of a domain; all bytes outside owned cells must stay unchanged.
class GridValues {
 public:
  GridValues(const CartesianDomain& domain, Element element, const ArrayLayout& layout,
      Memory memory, const Axes& axes = as_they_are)
      : domain_(domain), axes_(axes) {
    std::vector<std::byte*> starts;
    for (int b = 0; b < static_cast<int>(domain.blocks().size()); ++b) {
      byte_count bytes = byte_count{element.size} * layout.components;
      for (global_index extent : array_extents(domain, layout, b)) bytes *= extent;
      memory_.emplace_back(bytes, memory);
      starts.push_back(memory_.back().data());
    }
    field_ = view_blocks(domain, starts, element, layout);
  }
  const Field& field() const { return field_; }
  void clear() {
    for (WatchedBytes& each : memory_) each.wipe(), each.expect_as_is();
  }
  // Writes the owned values, to memory or to the expected bytes.
  void write(int salt, bool expected) {
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      const int block = static_cast<int>(b);
      write_box(memory_[b], field_, b, domain_.owned(block), first_of(domain_, field_, block), salt,
          expected, axes_);
      if (!expected) memory_[b].expect_as_is();
    }
  }
  bool as_expected() const {
    return std::all_of(memory_.begin(), memory_.end(),
        [](const WatchedBytes& each) { return each.as_expected(); });
  }

 private:
  const CartesianDomain& domain_;
  const Axes axes_;
  std::vector<WatchedBytes> memory_;
  Field field_;
};

}  // namespace

CASE(
    "over every transport, grids move to any other process grid, splits, blocks and order of axes, "
    "and back") {
  int turn = 0;
  for_random_cases(4, [&](Random& random) {
    const std::vector<global_index> all{
        random.between(1, 14), random.between(1, 9), random.between(1, 6)};
    const std::vector<global_index> extents(all.begin(), all.begin() + random.between(1, 3));
    Stagger points;
    for (std::size_t d = 0; d < extents.size(); ++d)
      points.along[d] = static_cast<std::int16_t>(random.chance(30));
    Axes axes = as_they_are;
    axes.resize(extents.size());
    const bool turned = random.chance(70);
    for (std::size_t d = axes.size(); turned && d > 1; --d)
      std::swap(axes[d - 1], axes[random.next() % d]);
    std::vector<global_index> permuted;
    Stagger permuted_points;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const auto there = static_cast<std::size_t>(axes[d]);
      permuted.push_back(extents[there]);
      permuted_points.along[d] = points.along[there];
    }
    const CartesianDomain from = some_domain(random, extents).staggered(points),
                          to = some_domain(random, permuted).staggered(permuted_points);
    const int arrays = random.between(1, 3);
    for (const Route& route : routes_for(turn++, 2)) {
      if (!takes_any_array(route)) continue;
      CAPTURE(route.transport);
      Redistribution redistribute(
          from, to, {route.transport}, axes == as_they_are && random.chance(50) ? Axes() : axes);
      std::vector<GridValues> before, after;
      std::vector<Move> moves;
      before.reserve(3), after.reserve(3);
      for (int f = 0; f < arrays; ++f) {
        const Element element =
            all_elements()[static_cast<std::size_t>(turn + f) % all_elements().size()];
        const auto layout = [&] {
          ArrayLayout made{random.chance(50) ? Order::c : Order::fortran, 1 + f};
          if (random.chance(50)) {  // padded
            made.array_halo = 0;
            for (int d = 0; d < from.dimensions(); ++d)
              made.array_halo.lower[d] = random.between(0, 1),
              made.array_halo.upper[d] = random.between(0, 3);
          }
          return made;
        };
        before.emplace_back(from, element, layout(), Memory::ordinary);
        after.emplace_back(to, element, layout(), Memory::ordinary, axes);
        moves.push_back({before.back().field(), after.back().field()});
      }
      if (random.chance(50)) redistribute.prepare(moves);
      for (int round = 0; round < 4; ++round) {
        const bool forward = round % 2 == 0;
        for (auto& each : forward ? before : after) each.clear(), each.write(round, false);
        for (auto& each : forward ? after : before) each.clear(), each.write(round, true);
        forward ? redistribute.forward(moves) : redistribute.back(moves);
        for (const auto& each : before) EXPECT_TRUE(each.as_expected());
        for (const auto& each : after) EXPECT_TRUE(each.as_expected());
      }
      EXPECT_NE(redistribute.explain(), "");
    }
  });
}

CASE("one rank gets a whole grid from its owners, and gives it back") {
  const Communicator comm(MPI_COMM_WORLD);
  int turn = 0;
  for_random_cases(12, [&](Random& random) {
    const std::vector<global_index> all{
        random.between(1, 14), random.between(1, 9), random.between(1, 6)};
    const std::vector<global_index> extents(all.begin(), all.begin() + random.between(1, 3));
    Stagger points;
    for (std::size_t d = 0; d < extents.size(); ++d)
      points.along[d] = static_cast<std::int16_t>(random.chance(30));
    const CartesianDomain domain = some_domain(random, extents).staggered(points);
    const Element element =
        all_elements()[static_cast<std::size_t>(turn++) % all_elements().size()];
    const int root = random.between(0, comm.size() - 1), components = random.between(1, 3);
    const auto order = [&] { return random.chance(50) ? Order::c : Order::fortran; };
    GridValues blocks(domain, element, {order(), components}, Memory::ordinary);
    Box box;
    byte_count bytes = byte_count{element.size} * components;
    for (int d = 0; d < domain.dimensions(); ++d) bytes *= box.hi[d] = domain.axis(d).extent;
    WatchedBytes memory(bytes, Memory::ordinary);
    const Field whole = view_whole(domain, memory.data(), element, {order(), components});
    blocks.clear(), blocks.write(turn, false);
    memory.wipe(), memory.expect_as_is();
    if (comm.rank() == root) write_box(memory, whole, 0, box, {}, turn, true);
    gather(domain, blocks.field(), whole, root);
    EXPECT_TRUE(blocks.as_expected());
    EXPECT_TRUE(memory.as_expected());
    blocks.clear(), blocks.write(turn, true);
    scatter(domain, whole, blocks.field(), root);
    EXPECT_TRUE(blocks.as_expected());
    EXPECT_TRUE(memory.as_expected());
    EXPECT_THROW(gather(domain, blocks.field(), {}, root), Error);
    EXPECT_THROW(gather(domain, blocks.field(), whole, comm.size()), Error);
  });
}

CASE(
    "over every transport, cells move to any other partition, where some ranks own nothing, and "
    "back") {
  const Communicator comm(MPI_COMM_WORLD);
  int turn = 0;
  for_random_cases(4, [&](Random& random) {
    const int cells = random.between(0, 80), active = random.between(1, comm.size());
    const bool block = random.chance(50);  // source: blocks in rank order
    std::vector<global_index> before, after;
    for (int cell = 0; cell < cells; ++cell) {
      if ((block ? cell * comm.size() / cells : random.between(0, comm.size() - 1)) == comm.rank())
        before.push_back(cell);
      if (random.between(0, active - 1) == comm.rank()) after.push_back(cell);
    }
    if (random.chance(50)) std::reverse(after.begin(), after.end());
    const auto count = static_cast<global_index>(before.size());
    const IndexedDomain from =
        block ? IndexedDomain(count, {}, comm) : IndexedDomain::with_owned_ids(before, {}, comm);
    const IndexedDomain to = IndexedDomain::with_owned_ids(after, {}, comm);
    for (const Route& route : routes_for(turn++, 2)) {
      if (!takes_any_array(route)) continue;
      CAPTURE(route.transport);
      Redistribution redistribute(from, to, {route.transport});
      const bool prepared = random.chance(50);
      std::vector<double> u(before.size()), v(after.size(), -1);
      std::vector<std::int32_t> k(3 * before.size()), l(3 * after.size(), -1);
      for (std::size_t i = 0; i < before.size(); ++i) {
        u[i] = static_cast<double>(before[i]) + 0.5;
        for (std::size_t c = 0; c < 3; ++c)
          k[3 * i + c] = static_cast<std::int32_t>(10 * before[i] + static_cast<global_index>(c));
      }
      const auto u_before = u;
      const auto k_before = k;
      const Move moves[] = {{view(from, u.data()), view(to, v.data())},
          {view(from, k.data(), 3), view(to, l.data(), 3)}};
      if (prepared) redistribute.prepare(moves);
      redistribute.forward(moves);
      for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(v[i], static_cast<double>(after[i]) + 0.5);
        EXPECT_EQ(l[3 * i + 2], 10 * after[i] + 2);
      }
      std::fill(u.begin(), u.end(), -1), std::fill(k.begin(), k.end(), -1);
      redistribute.back(moves);
      EXPECT_EQ(u, u_before);
      EXPECT_EQ(k, k_before);
    }
  });
}

CASE(
    "domains of other cells, and arrays that do not fit, are refused with a remedy on every rank") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain a{{12, 4}}, b{{12, 5}}, c{{12, 4}, {.halo = 0}};
  EXPECT_TRUE(holds(error_of([&] { Redistribution(a, b); }), "different extents"));
  EXPECT_TRUE(holds(error_of([&] { Redistribution(a, c, {}, {1, 0}); }), "different extents"));
  EXPECT_TRUE(holds(error_of([&] { Redistribution(a, c, {}, {0, 0}); }), "not a permutation"));
  if (comm.size() > 1)
    EXPECT_TRUE(
        holds(error_of([&] { Redistribution(a, c, {}, comm.rank() == 0 ? Axes{} : Axes{0, 1}); }),
            "the number of axes is 0 on rank 0"));
  EXPECT_TRUE(holds(error_of([&] { Redistribution(IndexedDomain(2, {}), IndexedDomain(3, {})); }),
      "domains of the same cells"));
  const auto twice = IndexedDomain::with_owned_ids(
      {global_index{2} * comm.rank(), global_index{2} * comm.rank() + 5}, {});
  const auto other = IndexedDomain::with_owned_ids(
      {global_index{2} * comm.rank(), global_index{2} * comm.rank() + 1}, {});
  EXPECT_TRUE(holds(error_of([&] { Redistribution(twice, other); }), "the same global ids"));
  const global_index second = comm.rank() == 0 ? 1000 : global_index{2} * comm.rank() + 1;
  const auto one_differs =
      IndexedDomain::with_owned_ids({global_index{2} * comm.rank(), second}, {});
  EXPECT_TRUE(holds(error_of([&] { Redistribution(other, one_differs); }), "the same global ids"));
  const auto by_loopback = [](const auto& from, const auto& to) {
    return error_of([&] { Redistribution(from, to, {.transport = "loopback"}); });
  };
  const CartesianDomain columns{{12, 4 * comm.size()}, {.process_grid = {1, comm.size()}}},
      rows{{12, 4 * comm.size()}, {.process_grid = {comm.size(), 1}}};
  const bool moves = comm.size() > 1 && comm.size() <= 12;
  EXPECT_EQ(holds(by_loopback(rows, columns), "transport loopback cannot reach rank "), moves);
  const auto backwards = IndexedDomain::with_owned_ids({comm.size() - 1 - comm.rank()}, {});
  EXPECT_EQ(holds(by_loopback(IndexedDomain(1, {}), backwards), "loopback cannot reach rank "),
      comm.size() > 1);
  Redistribution redistribute(a, c);
  auto u = make_array<double>(a);
  auto v = make_array<float>(c);
  EXPECT_TRUE(holds(error_of([&] { redistribute(u.field(), v.field()); }), "equal elements"));
  EXPECT_TRUE(holds(error_of([&] { redistribute.forward({}); }), "no arrays"));
  Redistribution same(a, a);
  auto w = make_array<double>(a), x = make_array<double>(a);
  const auto overlap = [&](std::initializer_list<Move> moves) {
    return holds(error_of([&] { same.forward(moves); }), "shares memory");
  };
  for (int call = 0; call < 2; ++call) {
    EXPECT_TRUE(overlap({{u.field(), u.field()}}));
    EXPECT_TRUE(overlap({{u.field(), x.field()}, {w.field(), x.field()}}));
    same.forward({{u.field(), w.field()}});
    same.forward({{u.field(), w.field()}, {u.field(), x.field()}});
  }
}

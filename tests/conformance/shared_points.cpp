// Sums over shared points: every holder gets the same bits, in one round of messages.
#include <numeric>

#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/plan/array.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Holders and owner of each point, known to every rank, so that tests compute sums without the
// library.
struct Holders {
  std::vector<std::vector<bool>> holds;  // holds[point][rank]
  std::vector<int> owner;

  Holders(Random& random, int ranks, int points) {
    for (int p = 0; p < points; ++p) {
      const int most =
          random.chance(20) ? ranks : std::min(ranks, 2);  // all ranks hold some points
      holds.emplace_back(ranks, false);
      owner.push_back(random.between(0, ranks - 1));
      holds[p][owner[p]] = true;
      for (int k = 1; k < most; ++k)
        holds[p][most == ranks ? k : random.between(0, ranks - 1)] = true;
    }
  }
  // Owned points and ghosts, each in a random order.
  IndexedDomain domain(Random& own) const {
    const Communicator comm(MPI_COMM_WORLD);
    std::vector<global_index> owned, ghosts;
    for (std::size_t p = 0; p < owner.size(); ++p)
      if (holds[p][comm.rank()]) (owner[p] == comm.rank() ? owned : ghosts).push_back(id(p));
    for (auto* list : {&owned, &ghosts})
      for (std::size_t i = list->size(); i > 1; --i)
        std::swap((*list)[i - 1], (*list)[own.next() % i]);
    return IndexedDomain::with_owned_ids(owned, ghosts, comm);
  }
  static global_index id(std::size_t point) { return static_cast<global_index>(3 * point + 1); }
  static std::size_t point_of(global_index id) { return static_cast<std::size_t>(id / 3); }
};

// Affine maps x → ax + b modulo 2^32: composition is associative, not commutative.
struct Affine {
  std::uint32_t a, b;
  friend bool operator==(const Affine&, const Affine&) = default;
};
Affine after(const Affine& f, const Affine& g) { return {f.a * g.a, f.a * g.b + f.b}; }

enum class Place {
  joined,
  apart,
  in_two
};  // contiguous; with gaps; owned cells and ghosts in two arrays

// An array on a domain's points; values depend on point, rank, component and `salt`.
class PointValues {
 public:
  PointValues(
      const IndexedDomain& domain, Element element, int components, Place place, Memory memory)
      : domain_(domain), element_(element), components_(components),
        width_(element.size * components), stride_(place == Place::apart ? 2 * width_ + 8 : width_),
        gap_(place == Place::in_two ? 3 * width_ : 0),
        bytes_(domain.size() * stride_ + gap_ + width_, memory) {}

  CellValues values() {
    return {{bytes_.data(), stride_}, {bytes_.data() + domain_.owned() * stride_ + gap_, stride_},
        element_, components_};
  }
  void fill(std::uint64_t salt) {
    bytes_.wipe();
    for (local_index cell = 0; cell < domain_.size(); ++cell)
      for (int c = 0; c < components_; ++c) write(at(cell, c), point_of(cell), rank(), c, salt);
    bytes_.expect_as_is();
  }
  // Combines the values of all holders in rank order.
  void expect(const Holders& holders, const Reduction& reduction, std::uint64_t salt) {
    for (local_index cell = 0; cell < domain_.size(); ++cell)
      for (int c = 0; c < components_; ++c) {
        std::byte* const into = bytes_.expected(at(cell, c));
        std::vector<std::byte> value(static_cast<std::size_t>(element_.size));
        bool first = true;
        for (int r = 0; r < size(); ++r) {
          if (!holders.holds[point_of(cell)][r]) continue;
          write(first ? into : value.data(), point_of(cell), r, c, salt);
          if (!first && reduction.by() != nullptr)
            reduction.by()->combine(into, value.data(), element_.size);
          else if (!first) combine_value(into, value.data(), element_, reduction);
          first = false;
        }
      }
  }
  bool as_expected() const { return bytes_.as_expected(); }

 private:
  static int rank() { return Communicator(MPI_COMM_WORLD).rank(); }
  static int size() { return Communicator(MPI_COMM_WORLD).size(); }
  std::size_t point_of(local_index cell) const {
    return Holders::point_of(domain_.global_of(cell));
  }
  std::byte* at(local_index cell, int c) {
    return bytes_.data() + cell * stride_ + (cell >= domain_.owned() ? gap_ : 0) +
           c * element_.size;
  }
  void write(std::byte* to, std::size_t point, int holder, int c, std::uint64_t salt) const {
    write_value(to, element_,
        mix(salt, point, static_cast<std::uint64_t>(holder), static_cast<std::uint64_t>(c)),
        test::Values::rounded);
  }

  const IndexedDomain& domain_;
  Element element_;
  int components_;
  byte_count width_, stride_, gap_;
  WatchedBytes bytes_;
};

const Element several[] = {{Scalar::float32, 4}, {Scalar::float64, 8}, {Scalar::int32, 4},
    {Scalar::complex128, 16}, {Scalar::float64, 24}};

}  // namespace

CASE(
    "over every transport, all holders of a point get the sum of their values in ascending order "
    "of rank, in one round of messages") {
  const Communicator comm(MPI_COMM_WORLD);
  int turn = 0;
  for_random_cases(3, [&](Random& random) {
    Random own(mix(random.next(), static_cast<std::uint64_t>(comm.rank())));
    const Holders holders(random, comm.size(), random.between(0, 60));
    const IndexedDomain domain = holders.domain(own);
    const ElementReduction composed =
        reduction_of<Affine>([](const Affine& a, const Affine& b) { return after(a, b); });
    for (const Route& route : routes_for(turn++, 3)) {
      if (!takes_any_array(route)) continue;
      CAPTURE(route.transport);
      const IndexMap map(domain, {route.transport});
      for (int round = 0; round < 5; ++round) {
        const Reduction reduction = std::vector<Reduction>{
            Reduction::sum, Reduction::prod, composed, Reduction::sum, Reduction::replace}[round];
        std::vector<PointValues> arrays;
        for (int f = 0; f < 1 + round % 3; ++f) {
          const Element element = reduction.by()
                                      ? reduction.by()->element()
                                      : several[static_cast<std::size_t>(turn + f + round) % 5];
          arrays.emplace_back(domain, element, 1 + f, static_cast<Place>(own.between(0, 2)),
              own.chance(50) ? Memory::node_shared : Memory::ordinary);
        }
        for (int again = 0; again < 2; ++again) {
          std::vector<CellValues> values;
          const auto salt = static_cast<std::uint64_t>(10 * round + again);
          for (auto& array : arrays)
            array.fill(salt), array.expect(holders, reduction, salt),
                values.push_back(array.values());
          if (again == 0) {
            map.reduce_shared(values, reduction);
          } else {
            map.begin_reduce_shared(values, reduction);
            MPI_Barrier(MPI_COMM_WORLD);
            map.end(values);
          }
          for (const auto& array : arrays) EXPECT_TRUE(array.as_expected());
        }
        std::vector<CellValues> values;
        for (auto& array : arrays) values.push_back(array.values());
        EXPECT_TRUE(holds(map.explain_shared(values), "1 round"));
      }
    }
  });
}

CASE(
    "a sum of shared points takes one message to each other holder, where reverse and forward take "
    "one each way") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const global_index next = (comm.rank() + 1) % comm.size();
  const IndexMap map(IndexedDomain(1, {next}));  // every point has two holders
  std::vector<double> x{0.1 * comm.rank(), 0.1 * static_cast<double>(next) + 1};
  map.sum_shared({x});
  const double left = 0.1 * comm.rank(),
               other = 0.1 * comm.rank() + 1;  // previous rank
  EXPECT_EQ(x[0], left + other);
  const int neighbors = comm.size() == 2 ? 1 : 2;
  EXPECT_TRUE(
      holds(map.explain_shared({x}), "1 round, " + std::to_string(neighbors) + " messages"));
  EXPECT_TRUE(holds(map.explain_shared({x}), "2 rounds, 2 messages"));
}

CASE("what cannot be summed as shared points is refused on every rank, with a remedy") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const global_index next = (comm.rank() + 1) % comm.size();
  const bool last = comm.rank() == comm.size() - 1;
  const IndexMap twice =
      IndexMap::pull(1, last ? std::vector{next, next} : std::vector{next}, comm);
  std::vector<double> x(static_cast<std::size_t>(twice.size()));
  EXPECT_TRUE(holds(error_of([&] { twice.sum_shared({x}); }), "as two ghosts"));
  const IndexMap self = IndexMap::pull(1, {last ? global_index{comm.rank()} : next}, comm);
  std::vector<std::complex<double>> z(2);
  EXPECT_TRUE(holds(error_of([&] { self.sum_shared({z}); }), "as owner and as ghost"));
  EXPECT_TRUE(holds(error_of([&] { self.reduce_shared({z}, Reduction::min); }), "no order"));
  EXPECT_TRUE(holds(error_of([&] { self.end({z}); }), "begin one"));
  EXPECT_TRUE(holds(error_of([&] { static_cast<void>(self.step({z})); }), "begin one"));
  const auto longest = reduction_of<float>([](float a, float b) { return a < b ? b : a; });
  EXPECT_TRUE(holds(error_of([&] { self.reverse({z}, longest); }), "it is for float32"));
}

CASE(
    "a reverse exchange combines by a function of the program, on elements of any type, in the "
    "order of ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const auto composed =
      reduction_of<Affine>([](const Affine& a, const Affine& b) { return after(a, b); });
  const auto of = [](int rank, int k) {
    return Affine{
        static_cast<std::uint32_t>(3 * rank + 5 + 2 * k), static_cast<std::uint32_t>(7 * rank + k)};
  };
  // The ghosts of each rank are rank 0's two cells, the first one twice.
  const IndexMap map = IndexMap::pull(comm.rank() == 0 ? 2 : 0,
      comm.rank() == 0 ? std::vector<global_index>{} : std::vector<global_index>{0, 1, 0});
  for (const int components : {1, 3}) {
    std::vector<Affine> x(static_cast<std::size_t>(map.size() * components));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = of(comm.rank(), static_cast<int>(i));
    const std::vector<Affine> before = x;
    map.reverse({{x, components}}, composed);
    if (comm.rank() > 0) {
      EXPECT_EQ(x, before);
      continue;
    }
    for (int cell = 0; cell < 2; ++cell)
      for (int c = 0; c < components; ++c) {
        Affine expected = of(0, cell * components + c);
        for (int r = 1; r < comm.size(); ++r) {
          expected = after(expected, of(r, cell * components + c));
          if (cell == 0) expected = after(expected, of(r, 2 * components + c));
        }
        EXPECT_EQ(x[static_cast<std::size_t>(cell * components + c)], expected);
      }
  }
}

CASE("std::arrays are combined number by number, in grids as in index maps") {
  const Communicator comm(MPI_COMM_WORLD);
  using Vector = std::array<std::complex<float>, 3>;
  EXPECT_EQ(to_string(element_of<Vector>()), "complex64x3");
  EXPECT_EQ(parse_element("complex64x3"), element_of<Vector>());
  EXPECT_EQ(parse_element("float64x9"), (element_of<std::array<std::array<double, 3>, 3>>()));
  const CartesianDomain domain{
      {4 * comm.size()}, {.halo = 1, .periodic = true, .process_grid = {comm.size()}}};
  auto u = make_array<Vector>(domain);
  const global_index first = domain.owned().lo[0];
  const auto value = [](global_index x, int c) {
    return std::complex<float>(static_cast<float>(x + c), static_cast<float>(2 * c));
  };
  for (global_index x = first - 1; x < first + 5; ++x)
    for (int c = 0; c < 3; ++c) u(x)[static_cast<std::size_t>(c)] = value(x, c);
  Exchange exchange{build_pattern(domain), {u.field()}};
  exchange.reverse();
  const global_index extent = 4 * comm.size();
  for (int c = 0; c < 3; ++c) {
    const auto k = static_cast<std::size_t>(c);
    EXPECT_EQ(u(first)[k], value(first, c) + value(first == 0 ? extent : first,
                                                 c));  // the previous rank's upper ghost
    EXPECT_EQ(u(first + 1)[k], value(first + 1, c));
  }
  EXPECT_TRUE(holds(error_of([&] { exchange.reverse(Reduction::max); }), "no order"));
}

CASE(
    "cells get local numbers of their nodes, whose owners are told or are the lowest ranks that "
    "have them") {
  const Communicator comm(MPI_COMM_WORLD);
  for_random_cases(3, [&](Random& random) {
    const int nodes = random.between(1, 40), per_cell = random.between(1, 5);
    const std::uint64_t salt = random.next();
    // The nodes of any rank's cells, known to all ranks.
    const auto cells_of = [&](int rank) {
      std::vector<global_index> ids;
      Random own(mix(salt, static_cast<std::uint64_t>(rank)));
      for (int i = own.between(0, 12) * per_cell; i > 0; --i)
        ids.push_back(own.chance(10) ? -1 : 7 * own.between(0, nodes - 1));
      return ids;
    };
    std::vector<std::vector<bool>> has(
        static_cast<std::size_t>(nodes), std::vector<bool>(static_cast<std::size_t>(comm.size())));
    for (int r = 0; r < comm.size(); ++r)
      for (global_index id : cells_of(r))
        if (id >= 0) has[static_cast<std::size_t>(id / 7)][static_cast<std::size_t>(r)] = true;
    const auto mine = cells_of(comm.rank());
    std::vector<global_index> owned;
    for (int n = comm.rank(); n < nodes; n += comm.size()) owned.push_back(7 * n);
    for (const bool told : {false, true}) {
      const Localized made = told ? localize(mine, IndexedDomain::with_owned_ids(owned, {}, comm))
                                  : localize(mine, comm);
      ASSERT_EQ(made.connectivity.size(), mine.size());
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (mine[i] < 0) ASSERT_EQ(made.connectivity[i], -1);
        else ASSERT_EQ(made.nodes.global_of(made.connectivity[i]), mine[i]);
      }
      if (told) {
        EXPECT_EQ(made.nodes.owned(), static_cast<local_index>(owned.size()));
        continue;
      }
      for (local_index cell = 0; cell < made.nodes.size(); ++cell) {
        const auto& holders = has[static_cast<std::size_t>(made.nodes.global_of(cell) / 7)];
        const auto lowest = std::find(holders.begin(), holders.end(), true) - holders.begin();
        EXPECT_EQ(cell < made.nodes.owned(), lowest == comm.rank());
      }
    }
  });
  EXPECT_TRUE(
      holds(error_of([&] { localize(std::vector<global_index>{-2}, comm); }), "start at 0"));
  EXPECT_TRUE(
      holds(error_of([&] { localize(std::vector<global_index>{5}, IndexedDomain(0, {}, comm)); }),
          "global id 5"));
}

CASE("points of a grid that several ranks hold get one sum on all of them, over every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size(), before = (comm.rank() + ranks - 1) % ranks,
            after = (comm.rank() + 1) % ranks;
  const CartesianDomain domain(
      {2 * ranks, 3}, {.periodic = {true, false}, .process_grid = {ranks, 1}});
  const ArrayLayout nodes{.stagger = 1}, two{.components = 2, .stagger = 1};
  for (const Route& route : routes_for(1, 3)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    Array<double> mass = make_array<double>(domain, nodes);
    Array<float> force = make_array<float>(domain, two);
    PointSums sums(domain, {view(mass), view(force)}, {route.transport});
    const auto fill = [&] {
      for (global_index i = 2 * comm.rank(); i <= 2 * comm.rank() + 2; ++i)
        for (global_index j = 0; j <= 3; ++j)
          mass(i, j) = comm.rank() + 1, force.at({i, j}, 1) = static_cast<float>(comm.rank());
    };
    fill();
    sums();
    for (global_index j = 0; j <= 3; ++j) {
      EXPECT_EQ(mass(2 * comm.rank(), j), comm.rank() + before + 2);
      EXPECT_EQ(mass(2 * comm.rank() + 1, j), comm.rank() + 1);
      EXPECT_EQ(mass(2 * comm.rank() + 2, j), comm.rank() + after + 2);
    }
    fill();
    Step step = sums.begin(Reduction::max);
    EXPECT_TRUE(holds(error_of([&] { sums(); }), "under way"));
    while (!step.test()) {
    }
    step.end();
    EXPECT_EQ(mass(2 * comm.rank(), 0), std::max(comm.rank(), before) + 1);
    EXPECT_EQ(mass(2 * comm.rank(), -1), 0);
  }
  EXPECT_TRUE(holds(error_of([&] { PointSums(domain, {}); }), "no fields"));
  Array<double> cells = make_array<double>(domain);
  EXPECT_TRUE(holds(error_of([&] { PointSums(domain, {view(cells)}); }), "lives on cells"));
}

CASE("the last point of a grid is summed also where its owner has no cells") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  std::vector<global_index> cells(static_cast<std::size_t>(comm.size()), 0);
  cells.front() = 4;
  const CartesianDomain domain({4}, {.process_grid = {comm.size()}, .splits = {cells}});
  Array<double> mass = make_array<double>(domain, {.stagger = 1});
  PointSums sums(domain, {view(mass)});
  if (comm.rank() == 0) mass(4) = 3;
  sums();
  if (comm.rank() == 0 || comm.rank() == comm.size() - 1) {
    EXPECT_EQ(mass(4), 3);
  }
}

namespace {

// A sum that throws on one rank.
class Failing final : public UserReduction {
 public:
  explicit Failing(bool fails) : UserReduction(element_of<double>()), fails_(fails) {}
  void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
    if (failed_ = fails_; !failed_) sum_.combine(into, from, bytes);
  }
  bool has_failed() const override { return failed_; }

 private:
  struct Plus {
    double operator()(double a, double b) const { return a + b; }
  };
  ElementReduction<double, Plus> sum_{{}};
  bool fails_;
  mutable bool failed_ = false;
};

}  // namespace

CASE(
    "holders of points that a rank could not add up before it sent them are told which rank, over "
    "every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  // Each rank holds the points at both ends of the second dimension twice.
  const CartesianDomain domain(
      {2 * comm.size(), 3}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}});
  for (const Route& route : routes_for(1, 3)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    Array<double> mass = make_array<double>(domain, {.stagger = 1});
    PointSums sums(domain, {view(mass)}, {route.transport});
    const bool beside = comm.rank() == 1 || comm.rank() == comm.size() - 1;
    for (const bool called : {true, false}) {
      const Failing failing(comm.rank() == 0);
      const std::string error =
          error_of([&] { called ? sums.reduce(failing) : sums.begin(failing).end(); });
      EXPECT_EQ(holds(error, "failed on rank 0"), beside);
      EXPECT_EQ(error.empty(), !beside);
    }
    for (global_index i = 0; i <= 2; ++i)
      for (global_index j = 0; j <= 3; ++j) mass(2 * comm.rank() + i, j) = 1;
    sums();
    EXPECT_EQ(mass(2 * comm.rank(), 0), 4);
  }
}

namespace {

// The blocks of 4 × 4 cells lie side by side, and a seam folds their upper ends.
CartesianDomain folded_row(int ranks) {
  return CartesianDomain({4 * ranks, 4},
      {.halo = 1, .periodic = {true, false}, .process_grid = {ranks, 1}, .seams = {fold()}});
}

template <class Use>
void for_points_of_row(int rank, Use&& use) {
  for (global_index i = 4 * rank; i <= 4 * rank + 4; ++i)
    for (global_index j = 0; j <= 4; ++j) use(i, j);
}

}  // namespace

CASE(
    "over a seam, points are replaced in the arrays of the call, also if those of the construction "
    "are gone, over every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  const CartesianDomain domain = folded_row(ranks);
  const auto highest = [&](global_index i) {  // of the ranks whose blocks have points (i, …)
    const int after = static_cast<int>(i / 4 % ranks), before = (after + ranks - 1) % ranks;
    return i % 4 == 0 ? std::max(before, after) : after;
  };
  for (const Route& route : routes_for(1, 3)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    auto first = std::make_unique<Array<double>>(make_array<double>(domain, {.stagger = 1}));
    Array<double> mass = make_array<double>(domain, {.stagger = 1});
    Array<float> other = make_array<float>(domain, {.stagger = 1});
    PointSums sums(domain, {view(*first)}, {route.transport});
    first.reset();
    EXPECT_NE(error_of([&] { sums.reduce(Reduction::replace, {view(other)}); }), "");
    for (int round = 0; round < 2; ++round) {
      for_points_of_row(
          comm.rank(), [&](global_index i, global_index j) { mass(i, j) = comm.rank(); });
      sums.begin(Reduction::replace, {view(mass)}).end();
      for_points_of_row(comm.rank(), [&](global_index i, global_index j) {
        const int mirrored = j == 4 ? highest(4 * ranks - i) : 0;
        EXPECT_EQ(mass(i, j), std::max(highest(i), mirrored));
      });
    }
  }
}

CASE(
    "over a seam, points are replaced in private arrays, also if those of the construction are "
    "node-shared") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain = folded_row(comm.size());
  Array<double> shared = make_array<double>(domain, {.stagger = 1});
  const auto extents = array_extents(domain, {.stagger = 1});
  std::vector<double> mass(static_cast<std::size_t>(extents[0] * extents[1]));
  for (const char* const transport : {"auto", "shared+mpi"}) {
    if (!is_usable("shared")) continue;
    PointSums sums(domain, {view(shared)}, {transport});
    for (const Reduction how : {Reduction::sum, Reduction::replace, Reduction::replace})
      if (transport == std::string("auto"))
        EXPECT_EQ(
            error_of([&] { sums.reduce(how, {view(domain, mass.data(), {.stagger = 1})}); }), "");
      else EXPECT_EQ(error_of([&] { sums.reduce(how); }), "");
  }
}

CASE(
    "over a seam, all ranks are told of a rank that writes points while a reduction of the "
    "program's is under way") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const CartesianDomain domain = folded_row(comm.size());
  const int last = comm.size() - 1;
  Array<double> mass = make_array<double>(domain, {.stagger = 1});
  for_points_of_row(comm.rank(), [&](global_index i, global_index j) { mass(i, j) = 1; });
  PointSums sums(domain, {view(mass)}, {.transport = "mpi", .timeout_s = 60, .check = true});
  const Failing adds(false);
  const auto write = [&] {
    if (comm.rank() != last) return;
    for (global_index j = 0; j <= 4; ++j) ++mass(4 * comm.size(), j);  // rank 0 holds them, too
  };
  Step step = sums.begin(adds);
  write();
  EXPECT_TRUE(holds(error_of([&] { step.end(); }), "was written between begin and end"));
  EXPECT_EQ(error_of([&] { sums.reduce(adds); }), "");

  // A sum of the library's: that rank alone is told, and the others get its points.
  Step plain = sums.begin();
  write();
  const std::string error = error_of([&] { plain.end(); });
  if (comm.rank() == last) EXPECT_TRUE(holds(error, "was written between begin and end"));
  else EXPECT_EQ(error, "");
  EXPECT_EQ(error_of([&] { sums.reduce(adds); }), "");
}

CASE("points of several blocks on each rank get one sum, over every transport") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  const CartesianDomain domain({4 * ranks, 6},
      {.halo = 1, .periodic = true, .process_grid = {ranks, 1}, .blocks_per_rank = {2, 3}});
  for (const Route& route : routes_for(1, 3)) {
    if (route.memory == Memory::slow) continue;
    CAPTURE(route.transport);
    std::vector<std::vector<double>> arrays;
    std::vector<double*> places;
    for (int b = 0; b < 6; ++b) {
      const auto size = array_extents(domain, {.stagger = 1}, b);
      arrays.emplace_back(static_cast<std::size_t>(size[0] * size[1]), -1);
    }
    for (auto& array : arrays) places.push_back(array.data());
    const Field nodes = view(domain, places, {.stagger = 1});
    PointSums sums(domain, {nodes}, {route.transport});
    const auto each = [&](auto&& use) {
      for (int b = 0; b < 6; ++b) {
        const Box own = domain.owned(b);
        for (global_index i = 0; i <= own.extent(0); ++i)
          for (global_index j = 0; j <= own.extent(1); ++j)
            use(arrays[static_cast<std::size_t>(b)]
                      [static_cast<std::size_t>((i + 1) * (own.extent(1) + 3) + j + 1)],
                (i % own.extent(0) == 0 ? 1 : 2) * (j % own.extent(1) == 0 ? 1 : 2));
      }
    };
    for (const bool at_once : {true, false}) {
      each([](double& value, int cells) {
        value = cells;
      });  // 1 from each adjacent cell of the block
      if (at_once) sums({nodes});
      else sums.begin().end();
      each([](double& value, int) { EXPECT_EQ(value, 4); });
      EXPECT_EQ(arrays[0][0], -1);
    }
  }
}

CASE(
    "many ids get the local numbers that each gets alone: owned ones before ghosts, the first of "
    "equal ghosts") {
  const Communicator comm(MPI_COMM_WORLD);
  for_random_cases(4, [&](Random& random) {
    // Ids that are consecutive, sparse, or in the same slot of every group of the hash table.
    const global_index step = std::vector<global_index>{1, 8, 1024, 999983}[random.next() % 4];
    std::vector<global_index> owned, ghosts;
    for (int i = 0; i < 300; ++i) owned.push_back((i * comm.size() + comm.rank()) * step);
    for (int i = 0; i < 50; ++i) ghosts.push_back(random.between(0, 300 * comm.size() - 1) * step);
    const IndexedDomain domain =
        IndexedDomain::with_owned_ids(owned, ghosts, comm, SelfGhosts::allowed);
    std::vector<global_index> ids{-1, -7, 300 * comm.size() * step, 1 + step};
    for (int i = 0; i < 300 * comm.size(); ++i) ids.push_back(i * step);
    std::vector<local_index> cells(ids.size());
    domain.local_of(ids, cells);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto mine = std::find(owned.begin(), owned.end(), ids[i]);
      const auto ghost = std::find(ghosts.begin(), ghosts.end(), ids[i]);
      const auto expected = mine != owned.end()     ? mine - owned.begin()
                            : ghost != ghosts.end() ? domain.owned() + (ghost - ghosts.begin())
                                                    : -1;
      ASSERT_EQ(cells[i], expected);
      ASSERT_EQ(domain.local_of(ids[i]), expected);
    }
  });
}

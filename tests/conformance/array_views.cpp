// Views of types with data, extents and strides, as in mdspan, Kokkos, Eigen and xtensor.
#include <cstdio>
#include <numeric>

#if __has_include(<Eigen/Core>) && __has_include(<unsupported/Eigen/CXX11/Tensor>)
#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>
#define WITH_EIGEN
#endif
#if __has_include(<xtensor/xtensor.hpp>)
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#define WITH_XTENSOR
#endif

#include "support/cases.hpp"
#include "support/cells.hpp"
#include "support/exchanging.hpp"

using namespace test;

namespace {

// Minimal lookalike of std::mdspan: only what the concept requires.
template <class T, std::size_t Rank>
struct Span {
  T* first;
  std::array<std::size_t, Rank> extents, strides;
  T* data_handle() const { return first; }
  static constexpr std::size_t rank() { return Rank; }
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};

struct KokkosLike {
  double* first;
  std::size_t n, m;
  static constexpr std::size_t rank = 2;
  double* data() const { return first; }
  std::size_t extent(int d) const { return d == 0 ? n : m; }
  std::size_t stride_0() const { return 1; }
  std::size_t stride_1() const { return n; }
  std::size_t stride_2() const { return 0; }
  std::size_t stride_3() const { return 0; }
  std::size_t stride_4() const { return 0; }
};

static_assert(ArrayLike<Span<float, 3>> && ArrayLike<KokkosLike> &&
              !ArrayLike<std::vector<double>> && !ArrayLike<double*>);

// 6 × 5 cells per rank, ranks along the first dimension.
CartesianDomain domain_of_two() {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  return {{6 * ranks, 5}, {.halo = 1, .periodic = true, .process_grid = {ranks, 1}}};
}

double value(const CartesianDomain& domain, global_index i, global_index j, int c) {
  const auto extents = domain.extents();
  return static_cast<double>(((i + extents[0]) % extents[0]) * 100 + (j + 5) % 5 + 0.25 * c);
}

// Fills owned cells by `at(i, j, c)`, with indices from the first cell in memory; exchanges;
// compares all cells with the formula.
template <class At>
void check(const CartesianDomain& domain, const Field& field, int components, const At& at,
    const char* kind) {
  CAPTURE(kind);
  const Box owned = domain.owned();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 7; ++j)
      for (int c = 0; c < components; ++c)
        at(i, j, c) = i >= 1 && i < 7 && j >= 1 && j < 6
                          ? value(domain, owned.lo[0] + i - 1, owned.lo[1] + j - 1, c)
                          : -1;
  EXPECT_EQ(field.components, components);
  Exchange exchange{build_pattern(domain), {field}};
  exchange();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 7; ++j)
      for (int c = 0; c < components; ++c)
        ASSERT_EQ(at(i, j, c), value(domain, owned.lo[0] + i - 1, owned.lo[1] + j - 1, c));
}

}  // namespace

CASE("arrays of any kind that has data, extents and strides are exchanged in place") {
  const CartesianDomain domain = domain_of_two();
  std::vector<double> memory(4 * 8 * 7);
  Span<double, 2> rows{memory.data(), {8, 7}, {7, 1}}, columns{memory.data(), {8, 7}, {1, 8}},
      gaps{memory.data(), {8, 7}, {28, 4}};
  for (auto& span : {rows, columns, gaps})
    check(
        domain, view(domain, span), 1,
        [&](int i, int j, int) -> double& {
          return span.first[i * span.strides[0] + j * span.strides[1]];
        },
        "mdspan");
  Span<double, 3> vectors{memory.data(), {8, 7, 3}, {7, 1, 56}};
  check(
      domain, view(domain, vectors), 3,
      [&](int i, int j, int c) -> double& {
        return memory[static_cast<std::size_t>(7 * i + j + 56 * c)];
      },
      "components");
  check(
      domain, view(domain, KokkosLike{memory.data(), 8, 7}), 1,
      [&](int i, int j, int) -> double& { return memory[static_cast<std::size_t>(i + 8 * j)]; },
      "Kokkos");
#ifdef WITH_EIGEN
  Eigen::MatrixXd matrix(8, 7);
  check(
      domain, view(domain, matrix), 1, [&](int i, int j, int) -> double& { return matrix(i, j); },
      "Eigen::Matrix");
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> large(10, 9);
  auto part = large.block(1, 1, 8, 7);
  check(
      domain, view(domain, part), 1,
      [&](int i, int j, int) -> double& { return large(i + 1, j + 1); },
      "block of an Eigen::Matrix");
  Eigen::Tensor<double, 3> tensor(8, 7, 2);
  check(
      domain, view(domain, tensor), 2,
      [&](int i, int j, int c) -> double& { return tensor(i, j, c); }, "Eigen::Tensor");
  Eigen::Tensor<double, 3, Eigen::RowMajor> turned(8, 7, 2);
  check(
      domain, view(domain, turned), 2,
      [&](int i, int j, int c) -> double& { return turned(i, j, c); }, "Eigen::Tensor by rows");
#else
  std::puts("skipped: no headers of Eigen (Debian: apt install libeigen3-dev)");
#endif
#ifdef WITH_XTENSOR
  xt::xtensor<double, 2> x = xt::zeros<double>({8, 7});
  check(
      domain, view(domain, x), 1, [&](int i, int j, int) -> double& { return x(i, j); }, "xtensor");
  xt::xtensor<double, 3> y = xt::zeros<double>({10, 9, 2});
  auto inner = xt::view(y, xt::range(1, 9), xt::range(1, 8), xt::all());
  check(
      domain, view(domain, inner), 2,
      [&](int i, int j, int c) -> double& { return y(i + 1, j + 1, c); }, "view of an xtensor");
#else
  std::puts("skipped: no headers of xtensor (Debian: apt install libxtensor-dev)");
#endif
}

CASE("extents of such arrays are checked against owned cells and halo, with a remedy") {
  const CartesianDomain domain = domain_of_two();
  std::vector<double> memory(8 * 7 * 2);
  EXPECT_TRUE(holds(error_of([&] { view(domain, Span<double, 2>{memory.data(), {8, 5}, {7, 1}}); }),
      "has 5 values in dimension 1"));
  EXPECT_TRUE(holds(
      error_of([&] { view(domain, Span<double, 2>{memory.data(), {6, 5}, {7, 1}}); }), "take 8"));
  EXPECT_EQ(view(domain, Span<double, 2>{memory.data(), {6, 5}, {5, 1}}, {.array_halo = 0}).halo,
      HaloWidth(0));
  EXPECT_EQ(
      view(domain, Span<double, 2>{memory.data(), {9, 7}, {7, 1}}, {.stagger = {1, 0}}).stagger,
      (Stagger{1, 0}));
  EXPECT_TRUE(holds(
      error_of([&] { view(domain, Span<double, 1>{memory.data(), {8}, {1}}); }), "pass as many"));
  EXPECT_TRUE(holds(
      error_of([&] { view(domain, Span<double, 4>{memory.data(), {8, 7, 1, 1}, {7, 1, 1, 1}}); }),
      "pass as many"));
}

CASE(
    "index maps take such arrays, too: cells along the first dimension, components along the "
    "second") {
  const Communicator comm(MPI_COMM_WORLD);
  const global_index next = (comm.rank() + 1) % comm.size();
  const IndexMap map = IndexMap::pull(1, {next}, comm);
  std::array<int, 2> whole{comm.rank(), -1};
  std::vector<double> memory{1.0 * comm.rank(), -1, 10.0 * comm.rank(), -1, 0, 0};
  map.forward({std::span(memory).first(2), whole});
  EXPECT_EQ(memory[1], 1.0 * static_cast<double>(next));
  EXPECT_EQ(whole[1], static_cast<int>(next));
  memory = {3.0 * comm.rank(), -1, -1, 1.0 * comm.rank(), 0, 0};
  map.forward({{std::span(memory).first(4), 2}});
  EXPECT_EQ(memory[2], 3.0 * static_cast<double>(next));
  EXPECT_TRUE(holds(error_of([&] { map.forward({std::span(memory).first(3)}); }), "3"));
  static_assert(!std::is_constructible_v<CellValues, std::span<const double>> &&
                !std::is_constructible_v<CellValues, std::vector<double>>);
  memory = {1.0 * comm.rank(), -1, 10.0 * comm.rank(), -1, 0, 0};
  Span<double, 1> one{memory.data(), {2}, {1}};
  map.forward({view(map.domain(), one)});
  EXPECT_EQ(memory[1], 1.0 * static_cast<double>(next));
  Span<double, 2> rows{memory.data(), {2, 2}, {3, 1}};  // cell stride 3, components 0 and 1
  memory = {1.0 * comm.rank(), 2.0 * comm.rank(), -1, -1, -1, -1};
  map.forward({view(map.domain(), rows)});
  EXPECT_EQ(memory[3], 1.0 * static_cast<double>(next));
  EXPECT_EQ(memory[4], 2.0 * static_cast<double>(next));
  EXPECT_EQ(memory[2], -1);
  EXPECT_TRUE(holds(error_of([&] { view(map.domain(), Span<double, 1>{memory.data(), {3}, {1}}); }),
      "1 owned ones and 1 ghosts"));
#ifdef WITH_EIGEN
  Eigen::VectorXd vector(2);
  vector << comm.rank(), -1;
  map.forward({view(map.domain(), vector)});
  EXPECT_EQ(vector[1], 1.0 * static_cast<double>(next));
#endif
}

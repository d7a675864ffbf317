#include "poisson.hpp"

#include <algorithm>
#include <array>

#include "curve.hpp"
#include "sums.hpp"

namespace applications {

namespace {

constexpr int iterations_between_starts = 50;

class Poisson final : public Application {
 public:
  Poisson(int side, MPI_Comm comm, GhostUpdate& ghosts)
      : ghosts_(ghosts), matrix_(assemble_laplacian(side, comm)), sums_(comm) {
    direction_ = ghosts.add(matrix_.cells, 1).front();
    for (std::vector<double>* each : {&wanted_, &solution_, &residual_, &product_})
      each->resize(matrix_.diagonal.size());
  }

  void start(unsigned round) override {
    const std::uint64_t key = spread(round);
    for (std::size_t row = 0; row < wanted_.size(); ++row)
      wanted_[row] = scattered(key + static_cast<std::uint64_t>(matrix_.cells.first) + row);
    std::ranges::fill(direction_.values, 0.0);
    begin_solve();
  }

  void step() override {
    if (iteration_ == iterations_between_starts) begin_solve();
    double* p = direction_.values.data();
    const double before = r_dot_z_;
    r_dot_z_ = sums_.over_ranks(
        sum([&](std::size_t i) { return residual_[i] * residual_[i] / matrix_.diagonal[i]; }));
    const double beta = iteration_++ == 0 ? 0 : r_dot_z_ / before;
    for (std::size_t i = 0; i < residual_.size(); ++i)
      p[i] = residual_[i] / matrix_.diagonal[i] + beta * p[i];
    ghosts_.update(direction_.number);
    multiply(p);
    const double alpha =
        r_dot_z_ / sums_.over_ranks(sum([&](std::size_t i) { return p[i] * product_[i]; }));
    for (std::size_t i = 0; i < residual_.size(); ++i) {
      solution_[i] += alpha * p[i];
      residual_[i] -= alpha * product_[i];
    }
  }

  std::vector<std::span<const double>> state() const override {
    return {direction_.values, solution_, residual_, {&r_dot_z_, 1}};
  }

 private:
  void begin_solve() {
    std::ranges::fill(solution_, 0.0);
    residual_ = wanted_;
    iteration_ = 0;
  }

  template <class Term>
  double sum(Term&& term) const {
    double all = 0;
    for (std::size_t i = 0; i < residual_.size(); ++i) all += term(i);
    return all;
  }

  void multiply(const double* x) {
    for (std::size_t row = 0; row < product_.size(); ++row) {
      double value = 0;
      for (int k = matrix_.first[row]; k < matrix_.first[row + 1]; ++k) {
        const auto entry = static_cast<std::size_t>(k);
        value += matrix_.values[entry] * x[matrix_.columns[entry]];
      }
      product_[row] = value;
    }
  }

  GhostUpdate& ghosts_;
  Rows matrix_;
  Sums sums_;
  Ghosted direction_;
  std::vector<double> wanted_, solution_, residual_, product_;
  double r_dot_z_ = 0;
  int iteration_ = 0;
};

}  // namespace

MakeApplication poisson(int side, MPI_Comm comm) {
  return [=](GhostUpdate& ghosts) { return std::make_unique<Poisson>(side, comm, ghosts); };
}

namespace {

using Point = std::array<double, 2>;
using Place = std::array<std::int64_t, 2>;

// Pseudo-random number of a grid position, whose coordinates run from −1 (the border) to side; the
// same on all ranks.
std::uint64_t lot(const Place& at) {
  return spread(static_cast<std::uint64_t>(place_on_curve(at[0] + 1, at[1] + 1)));
}

// Position of a node: displaced from the regular grid by at most a quarter of the spacing.
Point node(const Place& at) {
  const std::uint64_t drawn = lot(at);
  const auto shift = [drawn](int bits) {
    return (static_cast<double>(drawn >> bits & 1023) - 511.5) / 2048;
  };
  return {static_cast<double>(at[0]) + shift(0), static_cast<double>(at[1]) + shift(10)};
}

using Triangle = std::array<Place, 3>;

// The two triangles of the square whose lower left node is `at`, cut along a pseudo-random
// diagonal.
std::array<Triangle, 2> triangles_above(const Place& at) {
  const Place right{at[0] + 1, at[1]}, above{at[0], at[1] + 1}, across{at[0] + 1, at[1] + 1};
  if (lot(at) >> 20 & 1) return {{{at, right, across}, {at, across, above}}};
  return {{{at, right, above}, {right, across, above}}};
}

// Entry (i, j) of the element stiffness matrix, the integral of the product of the hat functions'
// gradients, from the edges opposite the corners.
double stiffness(const Triangle& triangle, int i, int j) {
  std::array<Point, 3> edge{};
  for (std::size_t k = 0; k < 3; ++k) {
    const Point from = node(triangle[(k + 1) % 3]), to = node(triangle[(k + 2) % 3]);
    edge[k] = {to[0] - from[0], to[1] - from[1]};
  }
  const auto& a = edge[static_cast<std::size_t>(i)];
  const auto& b = edge[static_cast<std::size_t>(j)];
  const double twice_area = edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0];
  return (a[0] * b[0] + a[1] * b[1]) / (2 * twice_area);
}

// Matrix row of a node: its couplings with the 3 × 3 nodes around it, itself in the middle.
std::array<double, 9> row_of(const Place& at) {
  std::array<double, 9> row{};
  for (std::int64_t y = at[1] - 1; y <= at[1]; ++y)
    for (std::int64_t x = at[0] - 1; x <= at[0]; ++x)
      for (const Triangle& triangle : triangles_above({x, y}))
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3 && triangle[static_cast<std::size_t>(i)] == at; ++j) {
            const auto& [to_x, to_y] = triangle[static_cast<std::size_t>(j)];
            row[static_cast<std::size_t>(3 * (to_y - at[1] + 1) + to_x - at[0] + 1)] +=
                stiffness(triangle, i, j);
          }
  return row;
}

}  // namespace

Rows assemble_laplacian(int side, MPI_Comm comm) {
  const std::int64_t nodes = std::int64_t{side} * side;
  Rows rows;
  rows.cells = piece_of_curve(nodes, 1, comm);
  std::vector<std::int64_t> ids;
  for (std::int64_t id = rows.cells.first; id < rows.cells.first + rows.cells.owned; ++id) {
    const Place at = at_place(id);
    const std::array<double, 9> row = row_of(at);
    rows.diagonal.push_back(row[4]);
    for (std::int64_t k = 0; k < 9; ++k) {
      const Place to{at[0] + k % 3 - 1, at[1] + k / 3 - 1};
      const bool inside = to[0] >= 0 && to[0] < side && to[1] >= 0 && to[1] < side;
      if (!inside || row[static_cast<std::size_t>(k)] == 0) continue;
      ids.push_back(place_on_curve(to[0], to[1]));
      rows.values.push_back(row[static_cast<std::size_t>(k)]);
    }
    rows.first.push_back(static_cast<int>(ids.size()));
  }
  find_ghosts_on_curve(rows.cells, ids, nodes, 1);
  for (const std::int64_t id : ids) rows.columns.push_back(rows.cells.local_of(id));
  return rows;
}

}  // namespace applications

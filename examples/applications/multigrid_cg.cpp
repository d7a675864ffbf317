#include "multigrid_cg.hpp"

#include <algorithm>
#include <deque>

#include "sums.hpp"

namespace applications {

namespace {

constexpr double diagonal = 26, neighbor = -1;

/// Position of a rank's rows in the grid. Row numbers run rank by rank, first dimension fastest.
struct Box {
  std::array<int, 3> grid, extent, place;

  Box(const MultigridProblem& problem, int level, int rank) : grid(problem.grid) {
    for (std::size_t d = 0; d < 3; ++d) {
      extent[d] = problem.extent[d] >> level;
      place[d] = rank % grid[d];
      rank /= grid[d];
    }
  }
  int rows() const { return extent[0] * extent[1] * extent[2]; }
  bool inside(const std::array<int, 3>& at) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] >= grid[d] * extent[d]) return false;
    return true;
  }
  int owner(const std::array<int, 3>& at) const {
    return at[0] / extent[0] + grid[0] * (at[1] / extent[1] + grid[1] * (at[2] / extent[2]));
  }
  std::int64_t id(const std::array<int, 3>& at) const {
    const int row =
        at[0] % extent[0] + extent[0] * (at[1] % extent[1] + extent[1] * (at[2] % extent[2]));
    return static_cast<std::int64_t>(owner(at)) * rows() + row;
  }
  std::array<int, 3> place_of(int row) const {
    return {place[0] * extent[0] + row % extent[0],
        place[1] * extent[1] + row / extent[0] % extent[1],
        place[2] * extent[2] + row / (extent[0] * extent[1])};
  }
  /// Calls `visit` with the coordinates of the row and of its neighbors in the box.
  template <class Visit>
  void for_each_entry(int row, Visit&& visit) const {
    const std::array<int, 3> at = place_of(row);
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (const std::array<int, 3> there{at[0] + dx, at[1] + dy, at[2] + dz}; inside(there))
            visit(there);
  }
};

Cells cells_of(const Box& box, int rank, MPI_Comm comm) {
  Cells cells{comm, static_cast<std::int64_t>(rank) * box.rows(), box.rows()};
  std::vector<std::int64_t> wanted;
  for (int row = 0; row < box.rows(); ++row)
    box.for_each_entry(row, [&](const std::array<int, 3>& at) {
      if (box.owner(at) != rank) wanted.push_back(box.id(at));
    });
  cells.find_ghosts(
      std::move(wanted), [&](std::int64_t id) { return static_cast<int>(id / box.rows()); });
  return cells;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// One level of the hierarchy: its matrix, and the vectors that multigrid needs there.
class MultigridLevel {
 public:
  /// Collective. Adds `vectors` vectors with ghosts; the first one is the correction.
  MultigridLevel(
      const MultigridProblem& problem, int level, MPI_Comm comm, GhostUpdate& ghosts, int vectors)
      : ghosts_(ghosts) {
    const int rank = rank_in(comm);
    const Box box(problem, level, rank);
    cells_ = cells_of(box, rank, comm);
    first_ = {0};
    for (int row = 0; row < rows(); ++row) {
      const std::int64_t own = cells_.first + row;
      box.for_each_entry(row, [&](const std::array<int, 3>& at) {
        const std::int64_t id = box.id(at);
        column_.push_back(cells_.local_of(id));
        value_.push_back(id == own ? diagonal : neighbor);
      });
      first_.push_back(column_.size());
    }
    const Box finer(problem, level - (level > 0), rank);
    for (int row = 0; level > 0 && row < rows(); ++row) {
      const std::array<int, 3> at = box.place_of(row);
      finer_row_.push_back(static_cast<int>(finer.id({2 * at[0], 2 * at[1], 2 * at[2]}) -
                                            static_cast<std::int64_t>(rank) * finer.rows()));
    }
    vectors_ = ghosts.add(cells_, 1, vectors);
    right_hand_side.resize(static_cast<std::size_t>(rows()));
    product.resize(right_hand_side.size());
  }

  /// y = A x; the ghosts of x must be up to date.
  void multiply(const double* x, std::vector<double>& y) const {
    for (std::size_t row = 0; row < y.size(); ++row) {
      double sum = 0;
      for (std::size_t i = first_[row]; i < first_[row + 1]; ++i) sum += value_[i] * x[column_[i]];
      y[row] = sum;
    }
  }
  /// Gauss-Seidel sweep for A x = rhs; the ghosts keep their values.
  void sweep_forward(double* x, const std::vector<double>& rhs) const {
    for (std::size_t row = 0; row < rhs.size(); ++row) relax(x, rhs, row);
  }
  void sweep_backward(double* x, const std::vector<double>& rhs) const {
    for (std::size_t row = rhs.size(); row-- > 0;) relax(x, rhs, row);
  }

  int rows() const { return cells_.owned; }
  const Cells& cells() const { return cells_; }
  /// The row of the finer grid at the position of each row.
  const std::vector<int>& finer_row() const { return finer_row_; }
  std::span<double> vector(int which) const {
    return vectors_[static_cast<std::size_t>(which)].values;
  }
  /// Updates the ghosts of a vector.
  void update(int which) { ghosts_.update(vectors_[static_cast<std::size_t>(which)].number); }

  std::vector<double> right_hand_side, product;

 private:
  void relax(double* x, const std::vector<double>& rhs, std::size_t row) const {
    double rest = rhs[row] + diagonal * x[row];
    for (std::size_t i = first_[row]; i < first_[row + 1]; ++i) rest -= value_[i] * x[column_[i]];
    x[row] = rest / diagonal;
  }

  GhostUpdate& ghosts_;
  Cells cells_;
  std::vector<std::size_t> first_;  // offset of each row's entries, and the end
  std::vector<int> column_;
  std::vector<double> value_;
  std::vector<int> finer_row_;
  std::vector<Ghosted> vectors_;
};

constexpr int most_levels = 4, iterations_of_a_solve = 25, coarsest_sweeps = 4;
constexpr int correction = 0,
              direction = 1;  // vectors with ghosts; direction only on the finest level

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class MultigridCg final : public Application {
 public:
  MultigridCg(const MultigridProblem& problem, MPI_Comm comm, GhostUpdate& ghosts) : sums_(comm) {
    for (int level = 0; level < problem.levels; ++level)
      levels_.emplace_back(problem, level, comm, ghosts, level == 0 ? 2 : 1);
    wanted_.resize(static_cast<std::size_t>(finest().rows()));
    solution_.resize(wanted_.size());
  }

  void start(unsigned round) override {
    const std::uint64_t key = spread(round);
    for (std::size_t row = 0; row < wanted_.size(); ++row)
      wanted_[row] = scattered(key + static_cast<std::uint64_t>(finest().cells().first) + row);
    for (MultigridLevel& level : levels_) std::ranges::fill(level.vector(correction), 0.0);
    std::ranges::fill(finest().vector(direction), 0.0);
    begin_solve();
  }

  // The right-hand side of the finest level holds the residual, because the preconditioner reads
  // it.
  void step() override {
    if (iteration_ == iterations_of_a_solve) begin_solve();
    std::vector<double>&r = finest().right_hand_side, &product = finest().product;
    precondition(0);
    const std::span<const double> z = finest().vector(correction).first(r.size());
    const double before = r_dot_z_;
    r_dot_z_ = sums_.over_ranks(dot(r, z));
    const double beta = iteration_++ == 0 ? 0 : r_dot_z_ / before;
    double* p = finest().vector(direction).data();
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = z[i] + beta * p[i];
    finest().update(direction);
    finest().multiply(p, product);
    const double alpha = r_dot_z_ / sums_.over_ranks(dot({p, r.size()}, product));
    for (std::size_t i = 0; i < r.size(); ++i) {
      solution_[i] += alpha * p[i];
      r[i] -= alpha * product[i];
    }
    r_dot_r_ = sums_.over_ranks(dot(r, r));
  }

  std::vector<std::span<const double>> state() const override {
    std::vector<std::span<const double>> all{levels_.front().vector(direction), solution_,
        levels_.front().right_hand_side, {&r_dot_r_, 1}};
    for (const MultigridLevel& level : levels_) all.push_back(level.vector(correction));
    return all;
  }

 private:
  MultigridLevel& finest() { return levels_.front(); }

  void begin_solve() {
    std::ranges::fill(solution_, 0.0);
    finest().right_hand_side = wanted_;
    iteration_ = 0;
  }

  /// One V-cycle with initial guess zero: computes the level's correction from its right-hand
  /// side.
  void precondition(std::size_t which) {
    MultigridLevel& level = levels_[which];
    double* z = level.vector(correction).data();
    std::ranges::fill(level.vector(correction), 0.0);
    smooth(level, z);  // ghosts are zero, as on their owners
    if (which + 1 == levels_.size()) {
      for (int sweep = 1; sweep < coarsest_sweeps; ++sweep) {
        level.update(correction);
        smooth(level, z);
      }
      return;
    }
    level.update(correction);
    level.multiply(z, level.product);
    MultigridLevel& coarser = levels_[which + 1];
    for (std::size_t row = 0; row < coarser.finer_row().size(); ++row) {
      const auto finer = static_cast<std::size_t>(coarser.finer_row()[row]);
      coarser.right_hand_side[row] = level.right_hand_side[finer] - level.product[finer];
    }
    precondition(which + 1);
    const double* coarse = coarser.vector(correction).data();
    for (std::size_t row = 0; row < coarser.finer_row().size(); ++row)
      z[coarser.finer_row()[row]] += coarse[row];
    level.update(correction);
    smooth(level, z);
  }

  static void smooth(const MultigridLevel& level, double* z) {
    level.sweep_forward(z, level.right_hand_side);
    level.sweep_backward(z, level.right_hand_side);
  }

  Sums sums_;
  std::deque<MultigridLevel> levels_;
  std::vector<double> wanted_, solution_;  // solution of A x = wanted
  double r_dot_z_ = 0, r_dot_r_ = 0;
  int iteration_ = 0;
};

}  // namespace

int levels_of(const std::array<int, 3>& extent) {
  int levels = 1;
  const auto halves = [&](int side) { return side % (1 << levels) == 0 && side >> levels >= 2; };
  while (levels < most_levels && std::ranges::all_of(extent, halves)) ++levels;
  return levels;
}

MakeApplication multigrid_cg(const MultigridProblem& problem, MPI_Comm comm) {
  return [=](GhostUpdate& ghosts) { return std::make_unique<MultigridCg>(problem, comm, ghosts); };
}

}  // namespace applications

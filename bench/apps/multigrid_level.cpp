#include "apps/multigrid_level.hpp"

namespace parhelion::bench {

namespace {

constexpr double diagonal = 26, neighbor = -1;

/// Where a rank's rows lie in the box. Rows are numbered with the first dimension fastest, rank after rank.
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
        const int row = at[0] % extent[0] + extent[0] * (at[1] % extent[1] + extent[1] * (at[2] % extent[2]));
        return static_cast<std::int64_t>(owner(at)) * rows() + row;
    }
    std::array<int, 3> place_of(int row) const {
        return {place[0] * extent[0] + row % extent[0], place[1] * extent[1] + row / extent[0] % extent[1],
                place[2] * extent[2] + row / (extent[0] * extent[1])};
    }
    /// Calls `visit` with the place of the row and those of its neighbors in the box.
    template <class Visit>
    void for_each_entry(int row, Visit&& visit) const {
        const std::array<int, 3> at = place_of(row);
        for (int dz = -1; dz <= 1; ++dz)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    if (const std::array<int, 3> there{at[0] + dx, at[1] + dy, at[2] + dz}; inside(there)) visit(there);
    }
};

Cells cells_of(const Box& box, int rank, MPI_Comm comm) {
    Cells cells{comm, static_cast<std::int64_t>(rank) * box.rows(), box.rows()};
    std::vector<std::int64_t> wanted;
    for (int row = 0; row < box.rows(); ++row)
        box.for_each_entry(row, [&](const std::array<int, 3>& at) {
            if (box.owner(at) != rank) wanted.push_back(box.id(at));
        });
    cells.find_ghosts(std::move(wanted), [&](std::int64_t id) { return static_cast<int>(id / box.rows()); });
    return cells;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

}  // namespace

MultigridLevel::MultigridLevel(const MultigridProblem& problem, int level, MPI_Comm comm, GhostUpdate& ghosts, int vectors)
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
        finer_row_.push_back(
            static_cast<int>(finer.id({2 * at[0], 2 * at[1], 2 * at[2]}) - static_cast<std::int64_t>(rank) * finer.rows()));
    }
    vectors_ = ghosts.add(cells_, 1, vectors);
    right_hand_side.resize(static_cast<std::size_t>(rows()));
    product.resize(right_hand_side.size());
}

void MultigridLevel::multiply(const double* x, std::vector<double>& y) const {
    for (std::size_t row = 0; row < y.size(); ++row) {
        double sum = 0;
        for (std::size_t i = first_[row]; i < first_[row + 1]; ++i) sum += value_[i] * x[column_[i]];
        y[row] = sum;
    }
}

void MultigridLevel::relax(double* x, const std::vector<double>& rhs, std::size_t row) const {
    double rest = rhs[row] + diagonal * x[row];
    for (std::size_t i = first_[row]; i < first_[row + 1]; ++i) rest -= value_[i] * x[column_[i]];
    x[row] = rest / diagonal;
}

void MultigridLevel::sweep_forward(double* x, const std::vector<double>& rhs) const {
    for (std::size_t row = 0; row < rhs.size(); ++row) relax(x, rhs, row);
}

void MultigridLevel::sweep_backward(double* x, const std::vector<double>& rhs) const {
    for (std::size_t row = rhs.size(); row-- > 0;) relax(x, rhs, row);
}

}  // namespace parhelion::bench

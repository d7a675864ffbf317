#include "apps/multigrid_cg.hpp"

#include <algorithm>
#include <deque>

#include "apps/multigrid_level.hpp"
#include "apps/sums.hpp"
#include "values.hpp"

namespace parhelion::bench {

namespace {

constexpr int most_levels = 4, iterations_of_a_solve = 25, coarsest_sweeps = 4;
constexpr int correction = 0, direction = 1;  // vectors with ghosts; the direction on the finest grid only

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

class MultigridCg final : public Application {
public:
    MultigridCg(const MultigridProblem& problem, MPI_Comm comm, GhostUpdate& ghosts) : sums_(comm) {
        for (int level = 0; level < problem.levels; ++level) levels_.emplace_back(problem, level, comm, ghosts, level == 0 ? 2 : 1);
        wanted_.resize(static_cast<std::size_t>(finest().rows()));
        solution_.resize(wanted_.size());
    }

    void start(unsigned round) override {
        const std::uint64_t key = spread(round);
        for (std::size_t row = 0; row < wanted_.size(); ++row)
            wanted_[row] = exact_value<double>(spread(key + static_cast<std::uint64_t>(finest().cells().first) + row)) * 0x1p-53;
        for (MultigridLevel& level : levels_) std::ranges::fill(level.vector(correction), 0.0);
        std::ranges::fill(finest().vector(direction), 0.0);
        begin_solve();
    }

    // The residual stands in the right-hand side of the finest grid, which the preconditioner works on.
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
        std::vector<std::span<const double>> all{
            levels_.front().vector(direction), solution_, levels_.front().right_hand_side, {&r_dot_r_, 1}};
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

    /// One V-cycle from zero: the correction of a level for the right-hand side there.
    void precondition(std::size_t which) {
        MultigridLevel& level = levels_[which];
        double* z = level.vector(correction).data();
        std::ranges::fill(level.vector(correction), 0.0);
        smooth(level, z);  // all ghosts are zero, on their owners too
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
        for (std::size_t row = 0; row < coarser.finer_row().size(); ++row) z[coarser.finer_row()[row]] += coarse[row];
        level.update(correction);
        smooth(level, z);
    }

    static void smooth(const MultigridLevel& level, double* z) {
        level.sweep_forward(z, level.right_hand_side);
        level.sweep_backward(z, level.right_hand_side);
    }

    Sums sums_;
    std::deque<MultigridLevel> levels_;
    std::vector<double> wanted_, solution_;  // of A x = wanted
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

}  // namespace parhelion::bench

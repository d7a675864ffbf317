#include "apps/poisson.hpp"

#include <algorithm>

#include "apps/elements.hpp"
#include "apps/sums.hpp"
#include "values.hpp"

namespace parhelion::bench {

namespace {

constexpr int iterations_of_a_solve = 50;

class Poisson final : public Application {
public:
    Poisson(int side, MPI_Comm comm, GhostUpdate& ghosts) : ghosts_(ghosts), matrix_(assemble_laplacian(side, comm)), sums_(comm) {
        direction_ = ghosts.add(matrix_.cells, 1).front();
        for (std::vector<double>* each : {&wanted_, &solution_, &residual_, &product_}) each->resize(matrix_.diagonal.size());
    }

    void start(unsigned round) override {
        const std::uint64_t key = spread(round);
        for (std::size_t row = 0; row < wanted_.size(); ++row)
            wanted_[row] = exact_value<double>(spread(key + static_cast<std::uint64_t>(matrix_.cells.first) + row)) * 0x1p-53;
        std::ranges::fill(direction_.values, 0.0);
        begin_solve();
    }

    void step() override {
        if (iteration_ == iterations_of_a_solve) begin_solve();
        double* p = direction_.values.data();
        const double before = r_dot_z_;
        r_dot_z_ = sums_.over_ranks(sum([&](std::size_t i) { return residual_[i] * residual_[i] / matrix_.diagonal[i]; }));
        const double beta = iteration_++ == 0 ? 0 : r_dot_z_ / before;
        for (std::size_t i = 0; i < residual_.size(); ++i) p[i] = residual_[i] / matrix_.diagonal[i] + beta * p[i];
        ghosts_.update(direction_.number);
        multiply(p);
        const double alpha = r_dot_z_ / sums_.over_ranks(sum([&](std::size_t i) { return p[i] * product_[i]; }));
        for (std::size_t i = 0; i < residual_.size(); ++i) {
            solution_[i] += alpha * p[i];
            residual_[i] -= alpha * product_[i];
        }
    }

    std::vector<std::span<const double>> state() const override { return {direction_.values, solution_, residual_, {&r_dot_z_, 1}}; }

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

}  // namespace parhelion::bench

#pragma once

#include "apps/multigrid_cg.hpp"

namespace parhelion::bench {

/// The matrix of one grid of the hierarchy, its rows, and the vectors that multigrid needs there.
class MultigridLevel {
public:
    /// Collective over the ranks of the way. `vectors` of them get ghosts: the correction first.
    MultigridLevel(const MultigridProblem& problem, int level, MPI_Comm comm, GhostUpdate& ghosts, int vectors);

    /// y = A x; the ghosts of x must be there.
    void multiply(const double* x, std::vector<double>& y) const;
    /// Gauss-Seidel for A x = right_hand_side, through the rows or back; ghosts stay what they are.
    void sweep_forward(double* x, const std::vector<double>& right_hand_side) const;
    void sweep_backward(double* x, const std::vector<double>& right_hand_side) const;

    int rows() const { return cells_.owned; }
    const Cells& cells() const { return cells_; }
    /// For each row, the row of the finer grid that lies at its place.
    const std::vector<int>& finer_row() const { return finer_row_; }
    std::span<double> vector(int which) const { return vectors_[static_cast<std::size_t>(which)].values; }
    /// Fills the ghosts of a vector.
    void update(int which) { ghosts_.update(vectors_[static_cast<std::size_t>(which)].number); }

    std::vector<double> right_hand_side, product;

private:
    void relax(double* x, const std::vector<double>& right_hand_side, std::size_t row) const;

    GhostUpdate& ghosts_;
    Cells cells_;
    std::vector<std::size_t> first_;  // of each row's entries; one more than rows
    std::vector<int> column_;
    std::vector<double> value_;
    std::vector<int> finer_row_;
    std::vector<Ghosted> vectors_;
};

}  // namespace parhelion::bench

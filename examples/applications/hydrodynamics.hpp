#pragma once

#include "application.hpp"
#include "node_sums.hpp"

namespace applications {

struct HydrodynamicsProblem {
  Triple grid{1, 1, 1},
      cells{1, 1, 1};  // ranks per dimension, the first one fastest; cells per rank
};

/// A gas in a closed box on a Lagrangian grid: pressure in cells, velocity on nodes. The force on a
/// node is the sum over its adjacent cells.
MakeProgram hydrodynamics(
    const HydrodynamicsProblem& problem, MPI_Comm comm, std::function<NodeSumsPointer()> way);

/// Reference: every rank sums the nodes of the whole grid. Slow but simple.
NodeSumsPointer sums_over_all_ranks();

}  // namespace applications

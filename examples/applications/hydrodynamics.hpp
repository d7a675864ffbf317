#pragma once

#include "application.hpp"
#include "node_sums.hpp"

namespace applications {

struct HydrodynamicsProblem {
    Triple grid{1, 1, 1},
        cells{1, 1, 1};  // ranks per dimension, the first one fastest; cells of each
};

/// A gas in a closed box, on a grid that moves with it: pressure in cells, velocity at nodes, whose
/// forces are sums over the cells around.
MakeProgram hydrodynamics(const HydrodynamicsProblem& problem, MPI_Comm comm,
                          std::function<NodeSumsPointer()> way);

/// Every rank adds up the nodes of the whole grid: slow, and hard to get wrong.
NodeSumsPointer sums_over_all_ranks();

}  // namespace applications

// Placement of parts that exchange along any graph: unstructured meshes, index maps.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "parhelion/pattern/pattern.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// What one part sends to others in an exchange.
struct PartEdges {
    std::vector<int> part;
    std::vector<std::int64_t> bytes;
};

/// Where each part goes, and what that is worth.
struct GraphPlacement {
    std::vector<int> position_of_part;  ///< in the machine's hierarchical order
    Scores scores;
    Scores scores_blocked;  ///< of parts in order, node after node
    std::string chosen;     ///< "blocked", "METIS", each perhaps with " + refined"
    std::string
        note;  ///< what a library that is not here would have added; empty when nothing is missing
};

/// Puts part after part onto the machine, level by level: METIS cuts the graph into the nodes, each
/// node's parts into its sockets, and so on, several times, then a few units at a time that
/// exchange much; local search improves every cut and the order of the parts, and each unit keeps
/// its best, never worse than the parts in order. METIS is loaded at run time where it is installed
/// (the variable PARHELION_METIS names another library, or "none"). Local, deterministic; holds the
/// whole graph. Source of the partitioning: Karypis, Kumar: A fast and high quality multilevel
/// scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20 (1998). Errors: another number
/// of parts than ranks, an edge to a part that does not exist.
GraphPlacement place_graph(const Machine& machine, const std::vector<PartEdges>& graph,
                           Objective objective = Objective::jsum);

/// Collective over `comm`. Each rank says what its present part sends to which ranks; in the
/// communicator returned rank r is the process that should own part r from now on. Rank 0 holds the
/// graph of all parts while it plans. The caller frees the communicator. `node_color` as in
/// discover.
///
///     MPI_Comm placed = place_parts(comm, edges_of(build_pattern(domain)));
///     // read part rank(placed) and build the domain again on `placed`
MPI_Comm place_parts(MPI_Comm comm, const PartEdges& own, Objective objective = Objective::jsum,
                     int node_color = -1);

/// What this rank sends to each neighbor, `bytes_per_cell` for every cell. Local.
PartEdges edges_of(const Pattern& pattern, int bytes_per_cell = 8);

}  // namespace parhelion::placement

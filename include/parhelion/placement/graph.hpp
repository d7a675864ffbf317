// Placement of parts that exchange along any graph.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "parhelion/pattern/pattern.hpp"
#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// What one part sends in an exchange.
struct PartEdges {
  std::vector<int> part;
  std::vector<std::int64_t> bytes;
};

/// Position of each part, and the scores.
struct GraphPlacement {
  std::vector<int> position_of_part;  ///< in the machine's hierarchical order
  Scores scores;
  Scores scores_blocked;  ///< of parts in order, node after node
  std::string chosen;     ///< "blocked", "METIS", each optionally with " + refined"
  std::string note;       ///< missing library and its effect; empty if none
};

/// Places parts level by level. METIS cuts the graph into nodes, each node's parts into sockets, …,
/// several times, then recuts a few heavily communicating units at a time. Local search improves
/// every cut and the parts in order; each unit keeps its best, never worse than in order. Loads
/// METIS at run time if installed (PARHELION_METIS: another library, or "none"). Local,
/// deterministic; holds the whole graph. Source: Karypis, Kumar: A fast and high quality multilevel
/// scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20 (1998). Throws Error unless
/// there is one part per rank, and for edges to nonexistent parts.
GraphPlacement place_graph(const Machine& machine, const std::vector<PartEdges>& graph,
    Objective objective = Objective::jsum);

/// Collective over `comm`. `own`: what this rank's part sends to other ranks. Rank r of the
/// returned communicator, which the caller frees, should own part r. Rank 0 holds the whole graph
/// meanwhile. `node_color` as in discover.
///
///     MPI_Comm placed = place_parts(comm, edges_of(build_pattern(domain)));
///     // read part rank(placed) and rebuild the domain on `placed`
MPI_Comm place_parts(MPI_Comm comm, const PartEdges& own, Objective objective = Objective::jsum,
    int node_color = -1);

/// What this rank sends to each neighbor, with `bytes_per_cell`. Local.
PartEdges edges_of(const Pattern& pattern, int bytes_per_cell = 8);

}  // namespace parhelion::placement

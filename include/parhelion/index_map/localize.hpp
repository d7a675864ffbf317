// From global ids of nodes, as partitioned cells list them, to local numbers.
#pragma once

#include <span>
#include <vector>

#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion {

/// The nodes of a rank's cells: owned, then as ghosts those of other ranks; and the cells' nodes by
/// their local numbers.
struct Localized {
    IndexedDomain nodes;
    std::vector<local_index> connectivity;
};

/// Collective. `connectivity`: global ids of the nodes of this rank's cells, cell after cell (−1:
/// none, as in a table of cells of different sizes), which stays −1. `nodes` tells who owns which
/// node; its ghosts, if any, stay, and those that cells need and that are missing follow in
/// ascending order of id. Time and memory grow with a rank's own cells. Errors (on every rank): a
/// node that nobody owns.
///
///     auto [nodes, cells] = localize(cell_nodes, IndexedDomain::with_owned_ids(owned_nodes, {},
///     comm));
Localized localize(std::span<const global_index> connectivity, const IndexedDomain& nodes);

/// The same where nobody has said who owns the nodes: each belongs to the lowest rank that has it
/// in a cell, in ascending order of id. Nodes of no cell belong to nobody. Errors (on every rank):
/// ids that are negative, but for −1, or 2^62 and more.
Localized localize(std::span<const global_index> connectivity, Communicator comm);

}  // namespace parhelion

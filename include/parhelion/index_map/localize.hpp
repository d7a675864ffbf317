// Local numbering of partitioned cells' nodes.
#pragma once

#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion {

/// The nodes of a rank's cells (owned, then ghosts), and each cell's local node numbers.
struct Localized {
  IndexedDomain nodes;
  std::vector<local_index> connectivity;
};

/// Collective. `connectivity`: global node ids of this rank's cells, cell by cell; −1 (padding)
/// stays −1. `nodes` has the ownership of the nodes; its ghosts stay first, and the missing nodes
/// follow in ascending order of id. Time and memory are proportional to a rank's own cells. Errors
/// (on every rank): a node without an owner.
///
///     auto [nodes, cells] =
///         localize(cell_nodes, IndexedDomain::with_owned_ids(owned_nodes, {}, comm));
Localized localize(std::span<const global_index> connectivity, const IndexedDomain& nodes);

/// The same without given ownership: the lowest rank with a node in a cell owns it, in ascending
/// order of id. Other nodes have no owner. Errors (on every rank): ids below −1, or 2^62 and more.
Localized localize(std::span<const global_index> connectivity, Communicator comm);

}  // namespace parhelion

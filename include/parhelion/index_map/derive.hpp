// Index maps from other descriptions; gather and scatter by global id.
#pragma once

#include "parhelion/index_map/index_map.hpp"

namespace parhelion {

/// Lists of all ranks, read on the root.
struct RootLists {
  std::span<const global_index> owned;         ///< cells per rank
  std::span<const global_index> ghost_counts;  ///< ghosts per rank
  std::span<const global_index> ghost_ids;     ///< rank by rank
};

/// Collective. Blocks in rank order, from lists on `root`. Errors (on every rank): an invalid root;
/// lists without one entry per rank or with a wrong sum; those of IndexedDomain.
IndexedDomain domain_from_root(
    const RootLists& lists, int root, Communicator comm = MPI_COMM_WORLD);

/// Collective. Entries of rows, numbered row by row: `counts` has the number of entries of each
/// owned row of `rows`. A rank owns the entries of its rows; its ghosts are those of its ghost
/// rows, in their order. Errors (on every rank): a count missing or negative; more than 2^31 − 1
/// local entries.
IndexedDomain ragged_domain(const IndexMap& rows, std::span<const global_index> counts);

/// Collective. Appends as ghosts, ascending, those of `ids` that the rank neither owns nor has.
/// Errors: IndexedDomain's.
IndexedDomain with_added_ghosts(const IndexedDomain& domain, std::span<const global_index> ids);

/// Collective. Scatters (distribute) or gathers (collate) the values of all cells, in the order of
/// global ids, between `all` on `root` (`cells` cells) and every rank's owned cells. Errors (on
/// every rank): `cells` is not the global size; an invalid root; gaps in the ids; `all` and `owned`
/// overlap on the root.
void distribute(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width);
void collate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
    CellArray owned, byte_count width);

}  // namespace parhelion

// Index maps made from other descriptions than a rank's own owned cells and ghosts.
#pragma once

#include <span>

#include "parhelion/index_map/index_map.hpp"

namespace parhelion {

/// One rank's view of everybody's parts: what it passes matters on the root alone.
struct RootLists {
    std::span<const global_index> owned;         ///< cells of each rank
    std::span<const global_index> ghost_counts;  ///< ghosts of each rank
    std::span<const global_index> ghost_ids;     ///< those ghosts, rank after rank
};

/// Collective. Blocks in rank order, from lists that only `root` has.
/// Errors (on every rank): a root that does not exist, lists that are not one entry per rank or do
/// not add up, and those of IndexedDomain.
IndexedDomain domain_from_root(const RootLists& lists, int root,
                               Communicator comm = MPI_COMM_WORLD);

/// Collective. Entries of rows: row i of `rows` has `counts[i]` entries (counts of this rank's
/// owned rows), which are numbered row after row. This rank owns the entries of its rows; its
/// ghosts are those of its ghost rows, in their order. Errors (on every rank): as many counts as
/// owned rows are needed; negative counts; more than 2^31 − 1 local entries.
IndexedDomain ragged_domain(const IndexMap& rows, std::span<const global_index> counts);

/// Collective. The domain with further ghosts, those of `ids` that the rank neither owns nor has,
/// in ascending order behind the others. Errors: those of IndexedDomain.
IndexedDomain with_added_ghosts(const IndexedDomain& domain, std::span<const global_index> ids);

/// Collective. Values of all cells in the order of their global ids, on `root`, from and to every
/// rank's owned cells. `cells` is the number of cells in `all` on the root. Errors (on every rank):
/// a number that is not the global size, a root that does not exist, ids with gaps; on the root,
/// `all` and `owned` that share memory.
void distribute(const IndexedDomain& domain, int root, CellArray all, global_index cells,
                CellArray owned, byte_count width);
void collate(const IndexedDomain& domain, int root, CellArray all, global_index cells,
             CellArray owned, byte_count width);

}  // namespace parhelion

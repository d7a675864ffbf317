// Cells known by global ids: unstructured meshes, graphs, matrices.
#pragma once

#include <span>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"
#include "parhelion/domain/id_table.hpp"

namespace parhelion {

/// Whether a ghost may be a cell that this rank owns itself (it is then copied locally).
enum class SelfGhosts : std::uint8_t { refused, allowed };

/// Who owns which global id, and which ghosts this rank wants.
///
/// Local numbering: owned cells 0 … owned−1, then ghosts in the caller's order (duplicates
/// allowed). Construction is collective over `comm`. Ownership is found through a directory that is
/// itself spread over the ranks: no rank stores the owners of all. A rank may own nothing and may
/// have no ghosts. Errors (on every rank): a ghost id out of range, owned by nobody, or (unless
/// allowed) owned by its reader; an id owned twice; more than 2^31 − 1 local cells.
///
///     parhelion::IndexedDomain domain{1000, {2005, 17}, comm};   // global ids start at 0
class IndexedDomain {
public:
    /// Rank r owns the `owned` ids that follow those of rank r − 1.
    IndexedDomain(global_index owned, std::vector<global_index> ghosts,
                  Communicator comm = MPI_COMM_WORLD, SelfGhosts self = SelfGhosts::refused);

    /// This rank owns `owned_ids`, any, in that local order.
    static IndexedDomain with_owned_ids(std::vector<global_index> owned_ids,
                                        std::vector<global_index> ghosts,
                                        Communicator comm = MPI_COMM_WORLD,
                                        SelfGhosts self = SelfGhosts::refused);

    local_index owned() const { return owned_; }
    local_index ghosts() const { return static_cast<local_index>(ghost_ids_.size()); }
    local_index size() const { return owned_ + ghosts(); }
    /// Owned cells of all ranks.
    global_index global_size() const { return global_size_; }
    /// First owned id of a block, −1 where ownership is arbitrary.
    global_index first() const { return owned_ids_.empty() && !arbitrary_ ? first_ : -1; }

    std::span<const global_index> ghost_ids() const { return ghost_ids_; }
    /// Rank that owns each ghost, in the order of the ghosts.
    std::span<const int> ghost_owners() const { return ghost_owners_; }
    /// Ghost positions (0 … ghosts−1) in ascending order of global id; equal ids in the caller's
    /// order.
    std::span<const local_index> ghosts_by_id() const { return by_id_; }

    /// Global id of an owned cell or a ghost.
    global_index global_of(local_index cell) const;
    /// Owned index of an id that this rank owns, else −1.
    local_index owned_of(global_index id) const;
    /// Local index of an owned id or of its first ghost, else −1. O(1).
    local_index local_of(global_index id) const;
    /// Of each of `ids`, into `cells`. Throws Error where these are not as many.
    void local_of(std::span<const global_index> ids, std::span<local_index> cells) const;

    /// Collective. The owner of each id; Error on every rank when one has none.
    std::vector<int> owners_of(std::span<const global_index> ids) const;

    const Communicator& communicator() const { return comm_; }

private:
    IndexedDomain(Communicator comm) : comm_(comm) {}
    void finish(SelfGhosts self);
    void number();
    global_index id_of(local_index cell) const;
    void check_ghosts(SelfGhosts self) const;

    Communicator comm_;
    local_index owned_ = 0;
    global_index first_ = 0;
    global_index global_size_ = 0;
    global_index id_limit_ = 0;  // ids are below this
    bool arbitrary_ = false;
    std::vector<global_index> owned_ids_;  // arbitrary ownership only
    std::vector<global_index> ghost_ids_;
    std::vector<int> ghost_owners_;
    std::vector<local_index> by_id_;
    IdTable table_;  // of ghosts, and of owned cells where ownership is arbitrary
};

}  // namespace parhelion

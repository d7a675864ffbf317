// Cells with global ids: unstructured meshes, graphs, matrices.
#pragma once

#include <span>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/id_table.hpp"

namespace parhelion {

/// Whether a ghost may be a cell that its rank owns (a local copy).
enum class SelfGhosts : std::uint8_t { refused, allowed };

/// Ownership of global ids, and this rank's ghosts.
///
/// Local numbering: owned cells 0 … owned−1, then ghosts in the caller's order (duplicates
/// allowed). Construction is collective over `comm`. A distributed directory finds the owners. A
/// rank may own nothing and have no ghosts. Errors (on every rank): a ghost id out of range,
/// without an owner, or (unless allowed) owned by this rank; an id with two owners; more than 2^31
/// − 1 local cells.
///
///     parhelion::IndexedDomain domain{1000, {2005, 17}, comm};   // global ids start at 0
class IndexedDomain {
 public:
  /// Rank r owns the `owned` ids after those of rank r − 1.
  IndexedDomain(global_index owned, std::vector<global_index> ghosts,
      Communicator comm = MPI_COMM_WORLD, SelfGhosts self = SelfGhosts::refused);

  /// This rank owns the arbitrary ids `owned_ids`, in this local order.
  static IndexedDomain with_owned_ids(std::vector<global_index> owned_ids,
      std::vector<global_index> ghosts, Communicator comm = MPI_COMM_WORLD,
      SelfGhosts self = SelfGhosts::refused);

  local_index owned() const { return owned_; }
  local_index ghosts() const { return static_cast<local_index>(ghost_ids_.size()); }
  local_index size() const { return owned_ + ghosts(); }
  global_index global_size() const { return global_size_; }
  /// First owned id, −1 if ownership is arbitrary.
  global_index first() const { return arbitrary_ ? -1 : first_; }

  std::span<const global_index> ghost_ids() const { return ghost_ids_; }
  /// Owner of each ghost.
  std::span<const int> ghost_owners() const { return ghost_owners_; }
  /// Ghost indices (0 … ghosts−1), stably sorted by global id.
  std::span<const local_index> ghosts_by_id() const { return by_id_; }

  /// Global id of a local cell.
  global_index global_of(local_index cell) const;
  /// Global ids of the owned cells.
  std::vector<global_index> owned_ids() const;
  /// Local index of an owned id, else −1.
  local_index owned_of(global_index id) const;
  /// Local index of an owned id or its first ghost, else −1. O(1).
  local_index local_of(global_index id) const;
  /// Local index of each id. Throws Error if the spans differ in size.
  void local_of(std::span<const global_index> ids, std::span<local_index> cells) const;

  /// Collective. The owner of each id. Throws Error on every rank if an id has no owner.
  std::vector<int> owners_of(std::span<const global_index> ids) const;

  /// Collective. The same ownership, other ghosts. Errors: the constructor's.
  IndexedDomain with_ghosts(
      std::vector<global_index> ghosts, SelfGhosts self = SelfGhosts::refused) const;

  const Communicator& communicator() const { return comm_; }

 private:
  IndexedDomain(Communicator comm) : comm_(comm) {}
  void finish(SelfGhosts self);
  std::vector<int> find_owners(
      std::span<const global_index> ids, std::span<const local_index> ascending) const;
  std::vector<int> ask_directory(std::span<const global_index> ids) const;
  global_index id_of(local_index cell) const;
  void check_ghosts(SelfGhosts self) const;

  Communicator comm_;
  local_index owned_ = 0;
  global_index first_ = 0;
  global_index global_size_ = 0;
  global_index id_limit_ = 0;  // upper bound of the ids, exclusive
  bool arbitrary_ = false;
  std::vector<global_index> owned_ids_;  // arbitrary ownership only
  std::vector<global_index> ghost_ids_;
  std::vector<int> ghost_owners_;
  std::vector<local_index> by_id_;
  IdTable table_;  // ghosts; with arbitrary ownership also owned cells
};

}  // namespace parhelion

// A self-checking field on cells with global ids.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "support/memory.hpp"
#include "support/values.hpp"

namespace test {

/// Owned cells and ghosts of all ranks, on every rank, so that each can compute expected values.
struct Mesh {
  std::vector<std::vector<global_index>> owned;   ///< ids of each rank, in local order
  std::vector<std::vector<global_index>> ghosts;  ///< ids that each rank reads
  bool blocks = true;                             ///< owned ids are contiguous, in rank order

  /// Blocks of these sizes, without ghosts.
  static Mesh of_blocks(const std::vector<global_index>& sizes);
  global_index cells() const;
  IndexedDomain domain(
      SelfGhosts self = SelfGhosts::refused, Communicator comm = MPI_COMM_WORLD) const;
};

/// joined: one array, owned cells before ghosts. rows: one row per component. apart: two arrays
/// with gaps.
enum class CellLayout { joined, rows, apart };

struct CellSpec {
  Element element;
  int components = 1;
  CellLayout layout = CellLayout::joined;
};

class CellField {
 public:
  CellField(const IndexedDomain& domain, const Mesh& mesh, const CellSpec& spec, int number,
      Memory memory);
  const Field& view() const { return view_; }

  void fill(Values values, int round = 0);
  void fill_ghosts(Reduction reduction);
  void expect_forward();
  void expect_reverse(Reduction reduction);
  /// The first unexpected cell; empty if there is none.
  std::string difference() const;
  std::vector<std::byte> copy() const;
  void restore(std::span<const std::byte> copy);
  bool canaries_intact() const {
    return owned_->canaries_intact() && (!ghosts_ || ghosts_->canaries_intact());
  }

  /// `cell` counts owned cells, then ghosts.
  std::byte* at(local_index cell, int component);
  std::vector<std::byte*> owned_places() { return places(0, domain_.owned()); }
  std::vector<std::byte*> ghost_places() { return places(domain_.owned(), domain_.size()); }

 private:
  std::vector<std::byte*> places(local_index first, local_index end);
  std::byte* expected(local_index cell, int component);
  std::uint64_t key(global_index id, int component) const;
  std::uint64_t ghost_key(
      int rank, std::size_t position, global_index id, int component, Reduction reduction) const;
  void make_view(Memory memory);

  const IndexedDomain& domain_;
  const Mesh& mesh_;
  CellSpec spec_;
  int number_;
  int round_ = 0;
  Values values_ = Values::bits;
  std::optional<WatchedBytes> owned_, ghosts_;  // ghosts_ with CellLayout::apart only
  Field view_;
};

}  // namespace test

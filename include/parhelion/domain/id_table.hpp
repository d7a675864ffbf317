// Hash table from global ids to local indices.
#pragma once

#include <bit>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// A hash table of cells whose ids are stored elsewhere (`id_of(cell)`), about 8 bytes per cell.
/// Consecutive ids are adjacent: lookups of a mesh cell's neighbors share cache lines. Lookup is
/// O(1) and thread-safe.
class IdTable {
 public:
  /// Clears the table; makes room for `cells` cells.
  void reserve(std::size_t cells) {
    places_.assign(cells == 0 ? 0 : std::bit_ceil(2 * cells + group), -1);
    mask_ = places_.empty() ? 0 : places_.size() - 1;
  }
  /// Inserts a cell unless its id is present.
  template <class IdOf>
  void insert(local_index cell, IdOf&& id_of) {
    const std::size_t at = place(id_of(cell), id_of);
    if (places_[at] < 0) places_[at] = cell;
  }
  /// The cell with this id, else −1.
  template <class IdOf>
  local_index find(global_index id, IdOf&& id_of) const {
    return places_.empty() ? -1 : places_[place(id, id_of)];
  }

 private:
  static constexpr std::size_t group = 8;

  template <class IdOf>
  std::size_t place(global_index id, IdOf&& id_of) const {
    std::size_t at = first(static_cast<std::uint64_t>(id));
    while (places_[at] >= 0 && id_of(places_[at]) != id) at = (at + 1) & mask_;
    return at;
  }
  // Fibonacci hashing of groups (Knuth, The Art of Computer Programming, 6.4).
  std::size_t first(std::uint64_t id) const {
    const std::uint64_t mixed = (id / group) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>((mixed >> 20) * group + id % group) & mask_;
  }

  std::vector<local_index> places_;
  std::size_t mask_ = 0;
};

}  // namespace parhelion

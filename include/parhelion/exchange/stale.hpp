// Ghosts that differ from their owners.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// A ghost value that differs bytewise from its owner's.
struct StaleGhost {
  int field = 0;                        ///< field number from 0, across groups
  int owner = 0;                        ///< owner, or, dimension by dimension, the forwarding rank
  std::vector<global_index> cell = {};  ///< owner's coordinates, or global id; empty for a loaded
                                        ///< pattern
  int component = 0;
  std::string here = {}, there = {};  ///< the two values as text
  std::string text = {};              ///< the complete message
};

/// Result of Exchange::stale on this rank.
struct StaleGhosts {
  static constexpr std::size_t most_told = 8;  ///< per field

  std::vector<global_index> count = {};  ///< stale values per field
  std::vector<StaleGhost> first = {};    ///< by field, at most `most_told` each

  bool empty() const { return first.empty(); }
};

}  // namespace parhelion

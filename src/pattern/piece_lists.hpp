// Builds patterns' links, with equal order of pieces at both ends.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Sort key of a link's pieces: the reader's block, then numbers that both ends compute.
using PieceKey = std::tuple<int, std::array<int, max_dimensions>>;
struct KeyedPiece {
  PieceKey key;
  PieceKey first;  ///< of the piece with the same cells, else its own
  BoxPiece piece;
  bool repeats() const { return key != first; }
};
using PiecesByRank = std::map<int, std::vector<KeyedPiece>>;

/// In ascending order of rank; sets the links' ranks.
Stage stage_of(std::map<int, Link> links);

Pattern indexed_pattern(
    const Communicator& comm, local_index owned, local_index ghosts, std::map<int, Link> links);

/// Links with pieces in order, duplicates last.
Stage join(PiecesByRank& receives, PiecesByRank& sends);

/// What blocks read: the halo; or, for sums, points held but not owned, with the first wet holder
/// for an owner on land.
enum class Reads { surroundings, held_points };

/// Local.
Stage stage_with_seams(const CartesianDomain& domain, Reads reads);

}  // namespace parhelion

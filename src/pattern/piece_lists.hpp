// Builds the links of patterns; equal order of a link's pieces at both ends.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Sort key of the pieces of a link: the reader's block, then numbers that both ends compute.
using PieceKey = std::tuple<int, std::array<int, max_dimensions>>;
struct KeyedPiece {
  PieceKey key;
  PieceKey first;  ///< key of the piece with the same cells; its own key if none
  BoxPiece piece;
  bool repeats() const { return key != first; }
};
using PiecesByRank = std::map<int, std::vector<KeyedPiece>>;

/// The links in ascending order of rank; sets their ranks.
Stage stage_of(std::map<int, Link> links);

/// A pattern of cells without ids.
Pattern indexed_pattern(
    const Communicator& comm, local_index owned, local_index ghosts, std::map<int, Link> links);

/// Builds links with their pieces in order, duplicates last.
Stage join(PiecesByRank& receives, PiecesByRank& sends);

/// What blocks read: the halo; or, for sums, points held but not owned, with the first wet holder
/// replacing an owner on land.
enum class Reads { surroundings, held_points };

/// Stage of this rank's blocks in a domain with seams. Local.
Stage stage_with_seams(const CartesianDomain& domain, Reads reads);

}  // namespace parhelion

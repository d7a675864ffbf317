// The pieces between this rank and others, from both ends in one order.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Order of the pieces of a link: by the reader's block, then by numbers that both ends give them.
using PieceKey = std::tuple<int, std::array<int, max_dimensions>>;
struct KeyedPiece {
    PieceKey key;
    PieceKey first;  ///< key of the piece that holds the same cells; key itself when none does
    BoxPiece piece;
    bool repeats() const { return key != first; }
};
using PiecesByRank = std::map<int, std::vector<KeyedPiece>>;

/// Links with their pieces in order, those that repeat others last.
Stage join(PiecesByRank& receives, PiecesByRank& sends);

/// What the blocks of a domain read: all around them; or, for sums, the points that they hold
/// alone, of which the first wet block that holds it has one that land would own.
enum class Reads { surroundings, held_points };

/// Of a domain with seams, and of this rank's blocks. Local.
Stage stage_with_seams(const CartesianDomain& domain, Reads reads);

}  // namespace parhelion

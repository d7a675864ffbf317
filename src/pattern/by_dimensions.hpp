// The same ghosts in several stages, each of which passes on what those before it have brought:
// fewer messages.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Which dimensions a piece lies beyond its reader's owned cells in.
DimensionSet ghost_dimensions(const BoxPiece& piece, int dimensions);

/// Whether stages would fill the ghosts that it fills, and no others: it has one stage, and in each
/// block every combination of what lies beyond its sides (not the faces alone), none of it beyond a
/// fold. Local.
bool fills_corners(const Pattern& pattern);

/// Stage k fetches the ghosts beyond the sides of `stages[k]`: those of edges and corners among
/// these dimensions from who owns them, those of earlier stages' dimensions from who has fetched
/// them. Every dimension with a halo is in one stage. Local: both ends of a link come to the same.
/// An indexed pattern stays as it is. Needs fills_corners.
Pattern by_dimensions(const Pattern& pattern, const std::vector<DimensionSet>& stages);

}  // namespace parhelion

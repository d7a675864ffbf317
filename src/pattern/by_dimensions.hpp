// Exchange dimension by dimension: later stages forward earlier ghosts, in fewer messages.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Bounding boxes of the blocks' cells and received ghosts.
std::vector<Box> reaches_of(const Pattern& pattern);

/// Dimensions in which a piece lies outside its reader's owned cells.
DimensionSet ghost_dimensions(const BoxPiece& piece, int dimensions);

/// Whether exchange by dimensions fills the same ghosts: one stage and, per block, ghosts in every
/// combination of sides (not faces only), none beyond a fold. Local.
bool fills_corners(const Pattern& pattern);

/// Stage k fills the ghosts beyond the sides in `stages[k]`: edges and corners among these
/// dimensions from their owners, those shared with earlier stages from ranks that have fetched
/// them. Every dimension with a halo is in one stage. Local: both ends of a link compute the same.
/// Returns indexed patterns unchanged. Requires fills_corners.
Pattern by_dimensions(const Pattern& pattern, const std::vector<DimensionSet>& stages);

}  // namespace parhelion

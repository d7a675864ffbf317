// Exchange dimension by dimension: later stages forward earlier ghosts, which needs fewer messages.
#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// Bounding box of each block's cells and received ghosts.
std::vector<Box> reaches_of(const Pattern& pattern);

/// The dimensions in which a piece lies outside its reader's owned cells.
DimensionSet ghost_dimensions(const BoxPiece& piece, int dimensions);

/// Whether exchanging by dimensions fills the same ghosts: one stage and, per block, ghosts in
/// every combination of sides (not faces only), none beyond a fold. Local.
bool fills_corners(const Pattern& pattern);

/// Stage k fills the ghosts beyond the sides in `stages[k]`: edges and corners among these
/// dimensions from their owners, those shared with earlier stages from ranks that have fetched
/// them. Every dimension with a halo is in exactly one stage. Local: both ends of a link compute
/// the same result. Returns indexed patterns unchanged. Requires fills_corners.
Pattern by_dimensions(const Pattern& pattern, const std::vector<DimensionSet>& stages);

}  // namespace parhelion

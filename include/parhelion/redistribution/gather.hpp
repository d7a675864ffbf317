// A grid in one place: from and to the rank that plots it, or has the file.
#pragma once

#include "parhelion/plan/field.hpp"

namespace parhelion {

/// Collective. Every cell or point of `field`, from its owner, into `whole`, a `view_whole` on
/// `root`; elsewhere `whole` does not matter. Layers around the grid are not part of it, not those
/// of Boundary::owned either; cells of blocks of land keep their values. Ranks wait for their turn,
/// within the time limit. Two messages of at most 32 MiB (more where a cell has more bytes) are
/// under way at a time: no rank needs more memory beside the arrays. Errors (on every rank): a root
/// that does not exist, arrays of another domain, elements, components or stagger that differ
/// between ranks or from those of `whole`; `whole` sharing memory with `field`.
///
///     std::vector<double> all(rank == 0 ? nx * ny : 0);
///     gather(domain, view(domain, u.data()), view_whole(domain, all.data()));
void gather(const CartesianDomain& domain, const Field& field, const Field& whole, int root = 0);

/// Collective. The other way: fills what ranks own of `field`. Ghosts are not written.
void scatter(const CartesianDomain& domain, const Field& whole, const Field& field, int root = 0);

}  // namespace parhelion

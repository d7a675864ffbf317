// Gather of a grid to one rank, and scatter from it, e.g. for plots and files.
#pragma once

#include "parhelion/plan/field.hpp"

namespace parhelion {

/// Collective. Copies every cell or point of `field` from its owner into `whole`, a `view_whole` on
/// `root` (ignored elsewhere). Leaves out layers around the grid, also those of Boundary::owned;
/// cells of land blocks keep their values. Ranks take turns, within the time limit; at most two
/// messages of 32 MiB (or one cell, if larger) are in flight, which bounds the memory. Throws Error
/// on every rank for: an invalid root; arrays of another domain; elements, components or stagger
/// that differ between ranks or from `whole`; `whole` sharing memory with `field`.
///
///     std::vector<double> all(rank == 0 ? nx * ny : 0);
///     gather(domain, view(domain, u.data()), view_whole(domain, all.data()));
void gather(const CartesianDomain& domain, const Field& field, const Field& whole, int root = 0);

/// Collective. The inverse: fills the owned values of `field`. Ghosts are not written.
void scatter(const CartesianDomain& domain, const Field& whole, const Field& field, int root = 0);

}  // namespace parhelion

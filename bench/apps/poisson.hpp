#pragma once

#include "apps/application.hpp"

namespace parhelion::bench {

/// Poisson's equation in two dimensions by linear finite elements on triangles of all shapes, zero on the border, solved by conjugate gradients with
/// the diagonal as preconditioner; `side` inner nodes along each side, numbered along Morton's curve. A step is an iteration, with one exchange.
MakeApplication poisson(int side, MPI_Comm comm);

}  // namespace parhelion::bench

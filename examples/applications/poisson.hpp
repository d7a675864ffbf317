#pragma once

#include "application.hpp"
#include "cells.hpp"

namespace applications {

/// A rank's rows of a matrix; columns are local numbers.
struct Rows {
    Cells cells;
    std::vector<int> first{0};  // entry of each row, and behind the last
    std::vector<int> columns;
    std::vector<double> values, diagonal;
};

/// The Laplacian by linear finite elements on side × side inner nodes of a mesh of irregular
/// triangles; zero on the border. Local.
Rows assemble_laplacian(int side, MPI_Comm comm);

/// Poisson's equation in two dimensions by linear finite elements on triangles of all shapes, zero
/// on the border, solved by conjugate gradients with the diagonal as preconditioner; `side` inner
/// nodes along each side, numbered along Morton's curve. A step is an iteration, with one exchange.
MakeApplication poisson(int side, MPI_Comm comm);

}  // namespace applications

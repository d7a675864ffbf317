#pragma once

#include "application.hpp"
#include "cells.hpp"

namespace applications {

/// A rank's rows of a sparse matrix (CSR); columns are local numbers.
struct Rows {
  Cells cells;
  std::vector<int> first{0};  // first entry of each row, and the end
  std::vector<int> columns;
  std::vector<double> values, diagonal;
};

/// The Laplacian in linear finite elements on side × side inner nodes of an irregular triangle
/// mesh, with zero boundary values. Local.
Rows assemble_laplacian(int side, MPI_Comm comm);

/// Poisson's equation in two dimensions: linear finite elements on irregular triangles, zero
/// boundary values, conjugate gradients with Jacobi preconditioner. The mesh has `side` × `side`
/// inner nodes, numbered along the Morton curve. Each step is one iteration with one exchange.
MakeApplication poisson(int side, MPI_Comm comm);

}  // namespace applications

#pragma once

#include <array>

#include "apps/cells.hpp"

namespace parhelion::bench {

/// A face between an owned cell and its neighbor, owned or ghost. The normal is as long as the face and points to the neighbor.
struct Face {
    int cell, neighbor;
    std::array<double, 2> normal;
};

/// A rank's part of the mesh; squares have sides of 1, triangles an area of ½.
struct Triangles {
    Cells cells;
    std::vector<Face> faces;                     // those between owned cells once
    std::vector<std::array<double, 2>> centers;  // of owned cells
};

Triangles make_triangles(int side, MPI_Comm comm);

}  // namespace parhelion::bench

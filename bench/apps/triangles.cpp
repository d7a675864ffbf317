#include "apps/triangles.hpp"

#include "apps/curve.hpp"
#include "values.hpp"

namespace parhelion::bench {

namespace {

// Square m of Morton's curve has the cells 2 m and 2 m + 1.

/// Whether the diagonal goes down to the right: drawn by lot. The lower triangle is 0, the upper one 1.
bool falls(std::int64_t square) { return spread(static_cast<std::uint64_t>(square)) & 1; }

struct Side {
    std::int64_t neighbor;
    std::array<double, 2> normal;
};

/// The three faces of a cell: the diagonal, the bottom or top, and one of the other sides.
std::array<Side, 3> sides_of(std::int64_t cell, std::int64_t side) {
    const std::int64_t square = cell / 2;
    const bool upper = cell % 2, falling = falls(square), left = falling != upper;
    const auto [x, y] = at_place(square);
    const double up = upper ? 1 : -1, right = left ? -1 : 1;
    const std::int64_t across = place_on_curve((x + (left ? side - 1 : 1)) % side, y);
    const std::int64_t above = place_on_curve(x, (y + (upper ? 1 : side - 1)) % side);
    const bool upper_there = falls(across) == left;  // of the two cells there the one that has our side
    return {{{2 * square + !upper, {-right, -up}}, {2 * above + !upper, {0, up}}, {2 * across + upper_there, {right, 0}}}};
}

std::array<double, 2> center_of(std::int64_t cell) {
    const std::int64_t square = cell / 2;
    const bool upper = cell % 2, left = falls(square) != upper;
    const auto [x, y] = at_place(square);
    return {static_cast<double>(x) + (left ? 1 : 2) / 3.0, static_cast<double>(y) + (upper ? 2 : 1) / 3.0};
}

}  // namespace

Triangles make_triangles(int side, MPI_Comm comm) {
    const std::int64_t squares = std::int64_t{side} * side;
    Triangles mesh;
    mesh.cells = piece_of_curve(squares, 2, comm);
    std::vector<std::int64_t> beside;
    for (std::int64_t cell = mesh.cells.first; cell < mesh.cells.first + mesh.cells.owned; ++cell)
        for (const Side& s : sides_of(cell, side)) beside.push_back(s.neighbor);
    find_ghosts_on_curve(mesh.cells, std::move(beside), squares, 2);
    for (int cell = 0; cell < mesh.cells.owned; ++cell) {
        const std::int64_t id = mesh.cells.first + cell;
        mesh.centers.push_back(center_of(id));
        for (const Side& s : sides_of(id, side))
            if (s.neighbor > id || !mesh.cells.owns(s.neighbor)) mesh.faces.push_back({cell, mesh.cells.local_of(s.neighbor), s.normal});
    }
    return mesh;
}

}  // namespace parhelion::bench

#include "apps/triangles.hpp"

#include "values.hpp"

namespace parhelion::bench {

namespace {

/// Square (x, y) has the cells 2 m and 2 m + 1, where m, its place on Morton's curve, has the bits of x and y in turns.
std::int64_t square_at(std::int64_t x, std::int64_t y) {
    std::int64_t place = 0;
    for (int bit = 0; bit < 31; ++bit) place |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
    return place;
}

std::array<std::int64_t, 2> place_of(std::int64_t square) {
    std::array<std::int64_t, 2> at{};
    for (int bit = 0; bit < 31; ++bit) {
        at[0] |= (square >> (2 * bit) & 1) << bit;
        at[1] |= (square >> (2 * bit + 1) & 1) << bit;
    }
    return at;
}

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
    const auto [x, y] = place_of(square);
    const double up = upper ? 1 : -1, right = left ? -1 : 1;
    const std::int64_t across = square_at((x + (left ? side - 1 : 1)) % side, y);
    const std::int64_t above = square_at(x, (y + (upper ? 1 : side - 1)) % side);
    const bool upper_there = falls(across) == left;  // of the two cells there the one that has our side
    return {{{2 * square + !upper, {-right, -up}}, {2 * above + !upper, {0, up}}, {2 * across + upper_there, {right, 0}}}};
}

std::array<double, 2> center_of(std::int64_t cell) {
    const std::int64_t square = cell / 2;
    const bool upper = cell % 2, left = falls(square) != upper;
    const auto [x, y] = place_of(square);
    return {static_cast<double>(x) + (left ? 1 : 2) / 3.0, static_cast<double>(y) + (upper ? 2 : 1) / 3.0};
}

}  // namespace

Triangles make_triangles(int side, MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const std::int64_t squares = std::int64_t{side} * side;
    const auto first_of = [&](int r) { return 2 * (squares * r / ranks); };
    Triangles mesh;
    mesh.cells = {comm, first_of(rank), static_cast<int>(first_of(rank + 1) - first_of(rank))};
    std::vector<std::int64_t> beside;
    for (std::int64_t cell = mesh.cells.first; cell < first_of(rank + 1); ++cell)
        for (const Side& s : sides_of(cell, side)) beside.push_back(s.neighbor);
    mesh.cells.find_ghosts(std::move(beside), [&](std::int64_t id) {
        int owner = static_cast<int>(id / 2 * ranks / squares);
        while (id < first_of(owner)) --owner;
        while (id >= first_of(owner + 1)) ++owner;
        return owner;
    });
    for (int cell = 0; cell < mesh.cells.owned; ++cell) {
        const std::int64_t id = mesh.cells.first + cell;
        mesh.centers.push_back(center_of(id));
        for (const Side& s : sides_of(id, side))
            if (s.neighbor > id || !mesh.cells.owns(s.neighbor)) mesh.faces.push_back({cell, mesh.cells.local_of(s.neighbor), s.normal});
    }
    return mesh;
}

}  // namespace parhelion::bench

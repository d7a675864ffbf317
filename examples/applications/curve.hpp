#pragma once

#include <array>
#include <cstdint>

#include "cells.hpp"

namespace applications {

/// Place on Morton's curve: it has the bits of x and y in turns.
std::int64_t place_on_curve(std::int64_t x, std::int64_t y);
/// x and y of a place on the curve.
std::array<std::int64_t, 2> at_place(std::int64_t place);

/// The cells of this rank, whose piece of the curve is about as long as any other's; `each` cells
/// for each of `places`. Without ghosts. Local.
Cells piece_of_curve(std::int64_t places, int each, MPI_Comm comm);
/// The ids of cells of other ranks that this one needs become its ghosts. Local.
void find_ghosts_on_curve(Cells& cells, std::vector<std::int64_t> ids, std::int64_t places,
                          int each);

}  // namespace applications

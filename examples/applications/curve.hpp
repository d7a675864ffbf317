#pragma once

#include <array>
#include <cstdint>

#include "cells.hpp"

namespace applications {

/// Position on the Morton curve: interleaves the bits of x and y.
std::int64_t place_on_curve(std::int64_t x, std::int64_t y);
/// Coordinates x and y of a position on the Morton curve.
std::array<std::int64_t, 2> at_place(std::int64_t place);

/// This rank's share of the curve, without ghosts: all ranks get about the same number of `places`,
/// with `each` cells per place. Local.
Cells piece_of_curve(std::int64_t places, int each, MPI_Comm comm);
/// Sets the ghosts of `cells`: the `ids` that other ranks own. Local.
void find_ghosts_on_curve(
    Cells& cells, std::vector<std::int64_t> ids, std::int64_t places, int each);

}  // namespace applications

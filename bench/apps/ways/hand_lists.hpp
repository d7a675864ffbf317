#pragma once

#include "apps/cells.hpp"

namespace parhelion::bench {

/// Who gets which cells of this rank, and where the ghosts from whom lie. Entry n + 1 of an offset is the end of entry n.
struct HandLists {
    std::vector<int> sources, ghost_offset;  // ranks, and cells of the ghosts
    std::vector<int> targets, send_offset;   // ranks, and places in `cells`
    std::vector<int> cells;                  // owned ones, target after target

    /// Collective: readers tell owners what they want.
    explicit HandLists(const Cells& mine);
    void pack(const double* values, std::size_t target, int components, double* packed) const;
};

}  // namespace parhelion::bench

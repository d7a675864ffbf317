// The values of all ghosts, to be put back after something else has overwritten them.
#pragma once

#include "plan/packed_cells.hpp"

namespace parhelion {

/// Saves when made; `restore` puts back. Local. The plan must outlive it.
class SavedGhosts {
public:
    explicit SavedGhosts(const Plan& plan) : plan_(plan), ghosts_(packed_cells(plan, End::ghosts)) {
        for (PackedCells& cells : ghosts_) cells.take(plan_, plan_.bases.data());
    }
    void restore() const {
        for (const PackedCells& cells : ghosts_) cells.put(plan_, plan_.bases.data());
    }

private:
    const Plan& plan_;
    std::vector<PackedCells> ghosts_;
};

}  // namespace parhelion

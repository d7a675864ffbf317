// Compares ghosts with their owners' values.
#pragma once

#include <memory>
#include <vector>

#include "exchange/stages.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/exchange/stale.hpp"
#include "plan/packed_cells.hpp"

namespace parhelion {

/// Memory of the same layout as the arrays of an exchange, whose ghosts are filled over MPI. The
/// arrays themselves are read only.
class StaleCheck {
public:
    /// Collective: takes memory and sets up transports. Throws Error for arrays that are not in the
    /// host's memory.
    explicit StaleCheck(const Plan& plan);

    /// Collective.
    StaleGhosts find(const BoundArrays& arrays, double timeout_s);

private:
    void allocate();
    void compare(const PackedCells& cells, Bases arrays, StaleGhosts& found);

    Plan plan_;  // of that memory
    std::vector<AlignedBytes> memory_;
    std::unique_ptr<BoundArrays> arrays_;
    std::unique_ptr<Stages> stages_;
    std::vector<PackedCells> owned_, ghosts_;
    AlignedBytes here_;
};

}  // namespace parhelion

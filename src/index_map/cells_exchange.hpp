// Interface of an index map's exchanges for arrays of given elements.
#pragma once

#include <algorithm>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

/// Callers must have set `CellValues::ghosts`.
class CellsExchange : public Operation {
public:
    explicit CellsExchange(CellArrays arrays)
        : made_for_(arrays.begin(), arrays.end()), given_(made_for_) {}

    /// Whether it can exchange these arrays. `in_halves`: by begin and end.
    virtual bool fits(CellArrays arrays, Direction direction, bool in_halves) const = 0;
    bool moves(CellArrays arrays) const {
        return under_way() && std::equal(arrays.begin(), arrays.end(), given_.begin(), given_.end(),
                                         [](const CellValues& a, const CellValues& b) {
                                             return a.owned == b.owned && a.ghosts == b.ghosts &&
                                                    a.width() == b.width();
                                         });
    }
    /// Null if it uses none.
    virtual const Exchange* exchange() const { return nullptr; }

    virtual void forward(CellArrays arrays) = 0;
    virtual void reverse(CellArrays arrays, Reduction reduction) = 0;
    virtual void begin(CellArrays arrays, Direction direction, Reduction reduction) = 0;

protected:
    const std::vector<CellValues> made_for_;
    std::vector<CellValues> given_;  // of the last call
    Direction direction_ = Direction::forward;
};

}  // namespace parhelion

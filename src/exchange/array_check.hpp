// Whether a program leaves arrays alone while they are exchanged: the checked mode of an exchange.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/plan/bound_arrays.hpp"
#include "plan/packed_cells.hpp"

namespace parhelion {

/// Fills `bytes` bytes with elements: signalling NaNs for floating-point and complex numbers, bytes
/// of 0xdb for all else.
void fill_poison(std::byte* first, byte_count bytes, const Element& element);

/// Of one exchange, or subset of one. While a forward exchange is under way its ghosts hold what no
/// program means (fill_poison), until values come, so that who reads them early notices; values
/// that a rank has given away are kept, and held against its arrays at the end. Of a plan of
/// several stages, whose later ones send what the earlier ones have brought, those that the program
/// has put there are.
class ArrayCheck {
public:
    /// Local. The plan must outlive it.
    explicit ArrayCheck(const Plan& plan);

    /// Before anything of an exchange moves: a neighbor may write ghosts from then on.
    void begin(const BoundArrays& arrays, Direction direction);
    /// At the end, before anything moves: what the program has written meanwhile that it should not
    /// have, with a remedy; empty where nothing.
    std::string written(const BoundArrays& arrays);

private:
    bool kept(const PackedCells& cells) const;
    std::vector<PackedCells>& given() {
        return direction_ == Direction::forward ? owned_ : ghosts_;
    }
    std::string compare(const BoundArrays& arrays, const PackedCells& cells);
    std::string complaint(const PackedCells& cells, byte_count at) const;

    const Plan& plan_;
    std::vector<PackedCells> owned_, ghosts_;
    std::shared_ptr<std::byte> now_;
    Direction direction_ = Direction::forward;
};

}  // namespace parhelion

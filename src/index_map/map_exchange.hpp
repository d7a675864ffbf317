// A map's exchange for arrays of certain elements.
#pragma once

#include <optional>
#include <vector>

#include "index_map/stand_in.hpp"
#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

/// Compiled for arrays whose cells lie next to each other. Arrays of a call that do not, and all that begin must let go of, are
/// represented by memory of its own. Ghosts of arrays have been told (`CellValues::ghosts`).
class MapExchange {
public:
    /// Collective. The pattern outlives it.
    MapExchange(const Pattern& pattern, CellArrays arrays, const ExchangeOptions& options);

    /// Whether it can move them: in a forward exchange bytes are bytes.
    bool fits(CellArrays arrays, Direction direction) const;
    bool under_way() const { return step_.has_value(); }
    bool moves(CellArrays arrays, Direction direction) const;
    const Exchange& exchange() const { return *exchange_; }

    void forward(CellArrays arrays);
    void reverse(CellArrays arrays, Reduction reduction);
    void begin(CellArrays arrays, Direction direction, Reduction reduction);
    void end();

private:
    struct Array {
        StandIn owned, ghosts;
    };
    void represent(CellArrays arrays, bool hold_owned, bool hold_ghosts);
    void represent(CellArrays arrays, Direction direction, bool hold_owned, bool hold_ghosts);
    void for_owned(void (StandIn::*copy)());
    void for_ghosts(void (StandIn::*copy)());
    void poison_ghosts() const;

    const std::vector<CellValues> made_for_;
    std::vector<CellValues> given_;  // by the last call
    const local_index ghosts_;
    bool checked_ = false;
    std::vector<Array> arrays_;
    std::vector<std::byte*> places_;  // for the exchange
    Direction direction_ = Direction::forward;
    std::optional<Exchange> exchange_;
    std::optional<Exchange::Step> step_;
};

}  // namespace parhelion

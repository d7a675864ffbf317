// A map's exchange for arrays of certain elements.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// Exchanges know arrays whose cells lie next to each other and that stay as they are until the end. Another array is copied to memory
/// that is so, or back from there; of its cells those that are exchanged.
class StandIn {
public:
    static constexpr std::span<const local_index> all{};

    /// Lists of the cells that are exchanged, which must outlive it. Takes no memory yet.
    StandIn(byte_count width, local_index cells, std::vector<std::span<const local_index>> exchanged);

    /// Takes memory, once, before it represents anything. Throws Error or std::bad_alloc when there is none.
    void reserve(bool node_shared);
    /// From now on it is about this array. Returns the first cell for the exchange: the array's own, unless it has to be held or its
    /// cells are apart.
    std::byte* represent(CellArray array, bool hold);

    /// Array → memory, and back, where it stands in.
    void bring();
    void give_back();

private:
    void compile();

    byte_count width_;
    local_index cells_;
    std::vector<std::span<const local_index>> exchanged_;
    std::shared_ptr<std::byte> memory_;
    CellArray array_;
    bool used_ = false;
    byte_count stride_ = -1;  // that the programs are for
    Program bring_, give_back_;
};

/// Compiled for arrays whose cells lie next to each other. Arrays of a call that do not, and all that begin must let go of, are
/// represented by memory of its own. Ghosts of arrays have been told (`CellValues::ghosts`).
class MapExchange final : public Operation {
public:
    /// Collective. The pattern outlives it.
    MapExchange(const Pattern& pattern, CellArrays arrays, const ExchangeOptions& options);

    /// Whether it can move them: in a forward exchange bytes are bytes.
    bool fits(CellArrays arrays, Direction direction) const;
    bool moves(CellArrays arrays, Direction direction) const;
    const Exchange& exchange() const { return *exchange_; }

    void forward(CellArrays arrays);
    void reverse(CellArrays arrays, Reduction reduction);
    void begin(CellArrays arrays, Direction direction, Reduction reduction);
    bool test() override { return step_->test(); }
    void end() override;

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
    std::optional<Step> step_;
};

}  // namespace parhelion

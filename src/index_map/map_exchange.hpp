// A map's exchange for arrays of certain elements.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "index_map/bounce_buffer.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

/// Compiled for arrays whose cells lie next to each other and that stay as they are until the end.
/// For arrays of a call that do not, and all that begin must let go of, bounce buffers stand in.
/// Ghosts of arrays have been told (`CellValues::ghosts`).
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
        BounceBuffer owned, ghosts;
    };
    struct Side {
        BounceBuffer Array::* buffer;
        CellArray CellValues::* array;
        local_index cells;
    };
    void represent(CellArrays arrays, bool hold_owned, bool hold_ghosts);
    void represent(CellArrays arrays, Direction direction, bool hold_owned, bool hold_ghosts);
    std::byte* represent(const Side& side, std::size_t f, bool hold);
    void copy(BounceBuffer Array::* buffer, void (BounceBuffer::*way)(Queue&));
    void poison_ghosts() const;

    const std::vector<CellValues> made_for_;
    std::vector<CellValues> given_;  // by the last call
    const local_index owned_, ghosts_;
    bool checked_ = false;
    const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);  // of the arrays
    const std::shared_ptr<Queue> queue_ = executor_->make_queue();
    std::vector<Array> arrays_;
    std::vector<std::byte*> places_;  // for the exchange
    Direction direction_ = Direction::forward;
    std::optional<Exchange> exchange_;
    std::optional<Step> step_;
};

}  // namespace parhelion

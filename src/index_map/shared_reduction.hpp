// Reductions over points that several ranks hold, for arrays of given elements.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "index_map/bounce_buffer.hpp"
#include "index_map/placed_cells.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion {

/// Extra data sent with the values.
enum class Tells { nothing, failures };

/// Exchanges the points' values with all other holders in one round, then combines them. Slots lie
/// in node-shared memory. Bounce buffers replace arrays that are not contiguous or, with places, of
/// another layout than the constructor's.
class SharedReduction final : public Operation {
public:
    /// Collective. `points` and `places` (null: none) must outlive it. `tells` must be equal on all
    /// ranks.
    SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays,
                    const ExchangeOptions& options, Tells tells = Tells::nothing,
                    const std::vector<local_index>* places = nullptr);

    bool fits(CellArrays arrays) const;
    bool combines(CellArrays arrays) const;
    const Exchange& exchange() const { return *exchange_; }

    void run(CellArrays arrays, Reduction reduction);
    void begin(CellArrays arrays, Reduction reduction);
    bool test() override { return step_->test(); }
    /// Throws Error, after all messages arrived, if another holder reported a failure.
    void end() override;
    /// Call before run and begin with Tells::failures: reports that this rank's values are invalid.
    void tell_failure(bool failed) {
        if (failures_) *failures_ = std::byte{failed};
    }

private:
    // With places: shared points by their numbers in the caller's array (`in_array`) and the
    // constructor's.
    struct Numbered {
        PlacedCells cells;
        SharedPoints points;
        byte_count stride;
        std::vector<local_index> in_array;
    };
    // Programs between points (base 0) and slots (base 1), and the bounce buffer of one array.
    struct Array {
        byte_count width;
        BounceBuffer buffer;
        std::unique_ptr<Numbered> numbered = {};
        std::vector<Program> turns = {};
        Program give = {};
        std::shared_ptr<std::byte> slots = {};
    };
    Array placed(const CellValues& values, const std::vector<local_index>& places) const;
    void make(Array& array, const CellValues& values);
    Group group_of(std::size_t f) const;
    bool lies_together(const CellValues& values) const;
    void represent(std::size_t f, bool stand_in);
    void represent();
    void start(CellArrays arrays);
    void combine(Reduction reduction);
    Group failures_group();
    void refuse_failures(Reduction reduction) const;

    const SharedPoints& points_;
    local_index owned_;
    std::vector<CellValues> made_for_, given_;
    std::vector<local_index> shared_owned_, shared_ghosts_;  // ghosts count from 0
    const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);
    const std::shared_ptr<Queue> queue_ = executor_->make_queue();
    std::vector<Array> arrays_;
    std::vector<std::byte*> places_;
    std::shared_ptr<std::byte>
        failures_;  // of this rank, then each neighbor; null with Tells::nothing
    std::optional<Reduction> reduction_;
    std::optional<Exchange> exchange_;
    std::optional<Step> step_;
};

}  // namespace parhelion

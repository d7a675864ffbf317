// A map's sums, and other reductions, of points that several ranks hold, for arrays of certain
// elements.
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

/// What travels beside the values.
enum class Tells { nothing, failures };

/// One exchange of the points' values with all other holders, and their combination. Slots lie in
/// node-shared memory of its own. Bounce buffers stand in for arrays whose cells lie apart, or
/// owned cells and ghosts in two places; with places, for arrays of another layout than those that
/// it was made for.
class SharedReduction final : public Operation {
public:
    /// Collective. The points and the places (null: none) outlive it. `tells`: equal on all ranks.
    SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays,
                    const ExchangeOptions& options, Tells tells = Tells::nothing,
                    const std::vector<local_index>* places = nullptr);

    bool fits(CellArrays arrays) const;
    bool combines(CellArrays arrays) const;
    const Exchange& exchange() const { return *exchange_; }

    void run(CellArrays arrays, Reduction reduction);
    void begin(CellArrays arrays, Reduction reduction);
    bool test() override { return step_->test(); }
    /// Throws Error, when all has arrived, where another holder has told a failure.
    void end() override;
    /// Before run and begin, where failures are told: whether the values that this rank sends are
    /// not what they should be.
    void tell_failure(bool failed) {
        if (failures_) *failures_ = std::byte{failed};
    }

private:
    // With places: of shared points in the array of the call, and all by the numbers that they have
    // in those that this was made for.
    struct Numbered {
        PlacedCells cells;
        SharedPoints points;
        byte_count stride;
        std::vector<local_index> in_array;
    };
    // Of one array: programs between points (base 0) and slots (base 1), and what stands in for its
    // owned cells and its ghosts.
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
    std::vector<local_index> shared_owned_, shared_ghosts_;  // the latter from the first ghost on
    const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);  // of the arrays
    const std::shared_ptr<Queue> queue_ = executor_->make_queue();
    std::vector<Array> arrays_;
    std::vector<std::byte*> places_;
    std::shared_ptr<std::byte>
        failures_;  // whether this rank, then each neighbor, has failed; null where nothing is told
    std::optional<Reduction> reduction_;
    std::optional<Exchange> exchange_;
    std::optional<Step> step_;
};

}  // namespace parhelion

// Reductions over points that several ranks hold.
#pragma once

#include "index_map/bounce_buffer.hpp"
#include "index_map/cells_operation.hpp"
#include "index_map/placed_cells.hpp"

namespace parhelion {

/// Exchanges values with all other holders in one round, then combines them. Slots lie in
/// node-shared memory. Bounce buffers replace arrays that are not contiguous or, with places, of
/// another layout than the constructor's.
class SharedReduction final : public CellsOperation {
 public:
  /// Collective. `points` and `places` (null: none) must outlive it. `tells_failures`, equal on all
  /// ranks: one more byte to each holder.
  SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays,
      const ExchangeOptions& options, const std::vector<local_index>* places = nullptr,
      bool tells_failures = false);

  bool fits(CellArrays arrays, MapCall call, bool) const override {
    return call == MapCall::reduce_shared && has_elements_of(arrays);
  }
  const Exchange* exchange() const override { return &*exchange_; }

  void run(CellArrays arrays, MapCall call, Reduction reduction) override;
  void begin(CellArrays arrays, MapCall call, Reduction reduction) override;
  bool test() override { return step_->test(); }
  /// Throws Error, after all messages arrived, if another holder's values are invalid.
  void end() override;
  /// Call before run and begin with `tells_failures`: whether this rank's values are invalid.
  void tell_failure(bool failed) {
    if (failures_) *failures_ = std::byte{failed};
  }

 private:
  // With places: points in the caller's array (`in_array`) and in the constructor's.
  struct Numbered {
    PlacedCells cells;
    SharedPoints points;
    byte_count stride;
    std::vector<local_index> in_array;
  };
  // Of one array: programs between points (base 0) and slots (base 1), and a bounce buffer.
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
  void start(CellArrays arrays, MapCall call);
  void combine(Reduction reduction);
  Group failures_group() const;
  void refuse_failures(Reduction reduction) const;

  const SharedPoints& points_;
  local_index owned_;
  std::vector<local_index> shared_ghosts_;  // counted from 0
  const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);
  const std::shared_ptr<Queue> queue_ = executor_->make_queue();
  std::vector<Array> arrays_;
  std::vector<std::byte*> places_;
  std::shared_ptr<std::byte> failures_;  // of this rank, then of each neighbor; null: not told
  std::optional<Reduction> reduction_;
  std::optional<Exchange> exchange_;
  std::optional<Step> step_;
};

}  // namespace parhelion

// An index map's exchange for arrays of given elements.
#pragma once

#include "index_map/bounce_buffer.hpp"
#include "index_map/cells_operation.hpp"
#include "index_map/placed_cells.hpp"

namespace parhelion {

/// For contiguous cells in arrays valid until `end`. Bounce buffers replace other arrays, and those
/// that `begin` must release.
///
/// With places: for this rank's layouts, and copies others; with `in_halves`, for buffers only.
class MapExchange final : public CellsOperation {
 public:
  /// Collective. The pattern and the places (null: none) must outlive it. `in_halves` matters
  /// only with places.
  MapExchange(const Pattern& pattern, const std::vector<local_index>* places, bool in_halves,
      CellArrays arrays, const ExchangeOptions& options);

  /// Forward exchanges without places compare only widths.
  bool fits(CellArrays arrays, MapCall call, bool in_halves) const override;
  const Exchange* exchange() const override { return &*exchange_; }

  void run(CellArrays arrays, MapCall call, Reduction reduction) override;
  void begin(CellArrays arrays, MapCall call, Reduction reduction) override;
  bool test() override { return step_->test(); }
  void end() override;

 private:
  // With places: exchanged cells in the caller's array and in the exchange's.
  struct Numbers {
    std::vector<local_index> in_array, in_buffer;
  };
  struct Array {
    BounceBuffer owned, ghosts;
    std::optional<PlacedCells> cells = {};
    std::unique_ptr<Numbers> sent = {}, received = {};
    CellShape shape = 0;
  };
  Array placed(const Pattern& pattern, const CellValues& array) const;
  Group group_of(const Pattern& pattern, std::size_t f) const;
  void look_at(std::size_t f);
  CellArray cells_of(std::size_t f, bool ghosts) const;
  void represent(bool hold_owned, bool hold_ghosts);
  void start(CellArrays arrays, MapCall call, bool hold_owned, bool hold_ghosts);
  std::byte* represent(std::size_t f, bool ghosts, bool hold);
  void copy(BounceBuffer Array::* buffer, void (BounceBuffer::*way)(Queue&));
  void poison_ghosts() const;

  const local_index owned_, ghosts_;
  const std::vector<local_index>* const at_;  // places of cells, or null
  const bool in_place_;                       // only with places
  std::vector<local_index> sent_, received_;  // local cells
  bool checked_ = false;
  const std::shared_ptr<Executor> executor_ = make_executor(MemorySpace::host);
  const std::shared_ptr<Queue> queue_ = executor_->make_queue();
  std::vector<Array> arrays_;
  std::vector<std::byte*> places_;  // addresses for the exchange
  std::optional<Exchange> exchange_;
  std::optional<Step> step_;
};

}  // namespace parhelion

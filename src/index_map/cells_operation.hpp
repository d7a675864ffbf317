// Common base of an index map's exchanges and sums, for arrays of given elements.
#pragma once

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

enum class MapCall : std::uint8_t { forward, reverse, reduce_shared };

/// Callers must have set `CellValues::ghosts`; forward calls `replace`.
class CellsOperation : public Operation {
 public:
  explicit CellsOperation(CellArrays arrays)
      : made_for_(arrays.begin(), arrays.end()), given_(made_for_) {}

  /// Whether it can exchange these arrays. `in_halves`: by begin and end.
  virtual bool fits(CellArrays arrays, MapCall call, bool in_halves) const = 0;
  /// Whether it is under way with these arrays.
  bool moves(CellArrays arrays) const {
    return under_way() && std::ranges::equal(arrays, given_, [](const auto& a, const auto& b) {
      return a.owned == b.owned && a.ghosts == b.ghosts && a.axes == b.axes &&
             a.width() == b.width();
    });
  }
  MapCall call() const { return call_; }  ///< the last
  /// Null if it uses none.
  virtual const Exchange* exchange() const { return nullptr; }

  virtual void run(CellArrays arrays, MapCall call, Reduction reduction) = 0;
  virtual void begin(CellArrays arrays, MapCall call, Reduction reduction) = 0;

 protected:
  bool has_elements_of(CellArrays arrays) const {
    return std::ranges::equal(arrays, made_for_, [](const auto& a, const auto& b) {
      return a.element == b.element && a.components == b.components;
    });
  }
  bool has_widths_of(CellArrays arrays) const {
    return std::ranges::equal(arrays, made_for_, {}, &CellValues::width, &CellValues::width);
  }
  Direction direction() const {
    return call_ == MapCall::reverse ? Direction::reverse : Direction::forward;
  }
  void take(CellArrays arrays, MapCall call) {
    std::copy(arrays.begin(), arrays.end(), given_.begin());
    call_ = call;
  }
  const std::vector<CellValues> made_for_;
  std::vector<CellValues> given_;  // of the last call

 private:
  MapCall call_ = MapCall::forward;
};

}  // namespace parhelion

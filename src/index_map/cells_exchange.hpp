// What an index map's exchanges and sums of arrays of given elements have in common.
#pragma once

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"

namespace parhelion {

/// Callers must have set `CellValues::ghosts`.
class CellsOperation : public Operation {
 public:
  explicit CellsOperation(CellArrays arrays)
      : made_for_(arrays.begin(), arrays.end()), given_(made_for_) {}

  /// Whether it is under way with these arrays.
  bool moves(CellArrays arrays) const {
    return under_way() && std::ranges::equal(arrays, given_, [](const auto& a, const auto& b) {
      return a.owned == b.owned && a.ghosts == b.ghosts && a.axes == b.axes &&
             a.width() == b.width();
    });
  }

 protected:
  bool has_elements_of(CellArrays arrays) const {
    return std::ranges::equal(arrays, made_for_, [](const auto& a, const auto& b) {
      return a.element == b.element && a.components == b.components;
    });
  }
  bool has_widths_of(CellArrays arrays) const {
    return std::ranges::equal(arrays, made_for_, {}, &CellValues::width, &CellValues::width);
  }
  const std::vector<CellValues> made_for_;
  std::vector<CellValues> given_;  // of the last call
};

class CellsExchange : public CellsOperation {
 public:
  using CellsOperation::CellsOperation;

  /// Whether it can exchange these arrays. `in_halves`: by begin and end.
  virtual bool fits(CellArrays arrays, Direction direction, bool in_halves) const = 0;
  /// Null if it uses none.
  virtual const Exchange* exchange() const { return nullptr; }

  virtual void forward(CellArrays arrays) = 0;
  virtual void reverse(CellArrays arrays, Reduction reduction) = 0;
  virtual void begin(CellArrays arrays, Direction direction, Reduction reduction) = 0;

 protected:
  Direction direction_ = Direction::forward;
};

}  // namespace parhelion

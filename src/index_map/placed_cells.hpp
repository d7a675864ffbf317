// Cells at given places in arrays, as multiples of a stride.
#pragma once

#include <limits>

#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/pattern/shared_points.hpp"

namespace parhelion {

/// Numbers of a map's cells in arrays of the layout of the last look_at.
class PlacedCells {
 public:
  /// `places` has one entry per local cell and must outlive it.
  explicit PlacedCells(std::span<const local_index> places) : places_(places) {}

  /// Whether the layout, and thus all numbers, changed. Throws Error for too large arrays.
  bool look_at(const CellValues& array);
  bool is_like(const CellValues& array) const;
  /// Cell `number` is at first + number · stride.
  CellArray in(const CellValues& array) const {
    return {array.owned.first == nullptr ? nullptr : array.owned.first + offset_, stride_};
  }
  local_index end() const { return end_; }
  local_index number(local_index cell) const { return numbers_[cell]; }
  void numbers_of(std::span<const local_index> cells, std::vector<local_index>& numbers) const;
  /// The map's pattern with these numbers.
  Pattern numbered(const Pattern& pattern) const;
  std::span<const local_index> numbers() const { return numbers_; }

 private:
  static constexpr byte_count none = std::numeric_limits<byte_count>::min();
  byte_count offset_of(local_index place) const;

  std::span<const local_index> places_;
  std::vector<local_index> numbers_;
  std::array<CellAxis, max_dimensions> axes_{};  // of the last look_at
  byte_count component_stride_ = none;
  byte_count offset_ = 0, stride_ = 0;
  local_index end_ = 0;
};

/// The points with renumbered cells, below `end`; slots keep their numbers.
SharedPoints numbered(SharedPoints points, std::span<const local_index> numbers, local_index end);

}  // namespace parhelion

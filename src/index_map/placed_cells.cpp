#include "index_map/placed_cells.hpp"

#include <numeric>

#include "core/concat.hpp"

namespace parhelion {

bool PlacedCells::is_like(const CellValues& array) const {
  return component_stride_ == array.component_stride && axes_ == array.axes;
}

byte_count PlacedCells::offset_of(local_index place) const {
  byte_count offset = 0;
  global_index left = place;
  for (std::size_t d = 0;; ++d) {
    if (d + 1 == axes_.size() || axes_[d + 1].extent == 0) return offset + left * axes_[d].stride;
    offset += left % axes_[d].extent * axes_[d].stride;
    left /= axes_[d].extent;
  }
}

bool PlacedCells::look_at(const CellValues& array) {
  if (is_like(array)) return false;
  axes_ = array.axes, component_stride_ = none;
  std::vector<byte_count> offsets;
  for (const local_index place : places_) offsets.push_back(offset_of(place));
  offset_ = offsets.empty() ? 0 : *std::ranges::min_element(offsets);
  stride_ = 0;
  for (byte_count& offset : offsets) stride_ = std::gcd(stride_, offset -= offset_);
  if (stride_ == 0) stride_ = array.width();
  numbers_.clear();
  end_ = 0;
  constexpr byte_count most = 1 << 30;
  for (const byte_count offset : offsets) {
    if (offset / stride_ >= most)
      refuse("cells of an array lie ", offset, " bytes apart, in steps of ", stride_,
          ": pass arrays that have fewer than 2^30 such steps");
    numbers_.push_back(static_cast<local_index>(offset / stride_));
    end_ = std::max(end_, numbers_.back() + 1);
  }
  component_stride_ = array.component_stride;
  return true;
}

void PlacedCells::numbers_of(
    std::span<const local_index> cells, std::vector<local_index>& numbers) const {
  numbers.resize(cells.size());
  std::ranges::transform(cells, numbers.begin(), [this](local_index i) { return number(i); });
}

Pattern PlacedCells::numbered(const Pattern& pattern) const {
  Pattern placed = pattern;
  placed.interleaved = true;
  placed.ids = nullptr;
  placed.owned = end_;
  if (placed.ghosts > 0) placed.ghosts = end_;  // else nothing is written
  for (Stage& stage : placed.stages)
    for (Link& link : stage) {
      for (local_index& cell : link.send.cells) cell = number(cell);
      for (local_index& cell : link.receive.cells) cell = end_ + number(cell);
    }
  return placed;
}

SharedPoints numbered(SharedPoints points, std::span<const local_index> numbers, local_index end) {
  const auto number_all = [&](std::vector<local_index>& cells) {
    for (local_index& cell : cells) cell = numbers[cell];
  };
  Pattern& pattern = points.pattern;
  for (Link& link : pattern.stages[0]) {
    number_all(link.send.cells);
    for (local_index& slot : link.receive.cells) slot += end - pattern.owned;
  }
  pattern.owned = end;
  for (Holder& turn : points.holders) {
    number_all(turn.points);
    if (turn.rank == pattern.communicator.rank()) number_all(turn.from);
  }
  number_all(points.points), number_all(points.given);
  return points;
}

}  // namespace parhelion

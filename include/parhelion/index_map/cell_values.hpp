// Arrays in calls of an index map.
#pragma once

#include <concepts>
#include <ranges>
#include <type_traits>

#include "parhelion/plan/field.hpp"

namespace parhelion {

/// An array of cells, `stride` bytes apart.
struct CellArray {
  std::byte* first = nullptr;
  byte_count stride = 0;
  friend bool operator==(const CellArray&, const CellArray&) = default;
};

/// A dimension of an array's cells; stride in bytes.
struct CellAxis {
  global_index extent = 0;
  byte_count stride = 0;
  friend bool operator==(const CellAxis&, const CellAxis&) = default;
};

/// Values of an index map's cells, anywhere in memory: `components` contiguous elements per cell.
/// With places, `owned` is the whole array, with any strides. Non-owning.
struct CellValues {
  CellArray owned;
  CellArray ghosts;  ///< null: behind the owned cells
  Element element;
  int components = 1;
  global_index elements = untold;  ///< size of the array of owned cells and ghosts, if known

  byte_count component_stride = 0;  ///< with places; 0: contiguous
  /// With places: dimensions of the cells, fastest-numbered first. None: one, with the stride of
  /// `owned`.
  std::array<CellAxis, max_dimensions> axes{};

  static constexpr global_index untold = -1;

  CellValues(CellArray owned_cells, CellArray ghost_cells, Element of, int per_cell = 1)
      : owned(owned_cells), ghosts(ghost_cells), element(of), components(per_cell) {}
  /// Owned cells, then ghosts.
  template <class T>
  CellValues(T* cells, int per_cell = 1)
      : CellValues(array(cells, per_cell), {}, element_of<T>(), per_cell) {}
  /// A std::vector, std::array or std::span.
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> && std::ranges::borrowed_range<Range> &&
             (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>)
  CellValues(Range&& cells, int per_cell = 1) : CellValues(std::ranges::data(cells), per_cell) {
    elements = static_cast<global_index>(std::ranges::size(cells));
  }
  /// Owned cells and ghosts in two arrays.
  template <class T>
  CellValues(T* owned_cells, T* ghost_cells, int per_cell = 1)
      : CellValues(array(owned_cells, per_cell), array(ghost_cells, per_cell), element_of<T>(),
            per_cell) {}
  /// From `view`. Throws Error for fields that are not of an index map or store components in
  /// separate rows.
  CellValues(const Field& view);

  byte_count width() const { return byte_count{element.size} * components; }
  /// Whether a cell's components are contiguous.
  bool is_joined() const {
    return components == 1 || component_stride == 0 || component_stride == element.size;
  }

 private:
  template <class T>
  static CellArray array(T* first, int per_cell) {
    return {reinterpret_cast<std::byte*>(first), static_cast<byte_count>(sizeof(T)) * per_cell};
  }
};

/// The arrays of a call: `{a, b, c}`, a span, or a single one. Non-owning.
class CellArrays : public std::span<const CellValues> {
 public:
  CellArrays(std::initializer_list<CellValues> arrays) : span(arrays.begin(), arrays.size()) {}
  CellArrays(std::span<const CellValues> arrays) : span(arrays) {}
  CellArrays(const std::vector<CellValues>& arrays) : span(arrays) {}
  CellArrays(const CellValues& array) : span(&array, 1) {}
};

}  // namespace parhelion

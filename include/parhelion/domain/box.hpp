// Boxes of cells, halo widths, staggers.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Global cell coordinates; 0 in unused dimensions.
using Coordinates = std::array<global_index, max_dimensions>;

/// Cells lo ≤ x < hi in every dimension; unused dimensions are [0, 1).
struct Box {
  Coordinates lo{0, 0, 0, 0};
  Coordinates hi{1, 1, 1, 1};

  /// Cells along dimension `d`.
  global_index extent(int d) const { return std::max<global_index>(0, hi[d] - lo[d]); }
  global_index cells() const { return extent(0) * extent(1) * extent(2) * extent(3); }
  bool empty() const { return cells() == 0; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Copies `listed`; a single value fills all dimensions. Returns its length, 0 for a single value.
template <class T>
int fill_per_dimension(std::array<T, max_dimensions>& values, std::initializer_list<T> listed) {
  if (listed.size() == 1) values.fill(*listed.begin());
  else
    std::copy_n(
        listed.begin(), std::min<std::size_t>(listed.size(), max_dimensions), values.begin());
  return listed.size() == 1 ? 0 : listed.size();
}

/// Throws Error unless `listed` is 0 or `dimensions`.
void require_dimensions(int listed, int dimensions, std::string_view what);

/// Halo width in cells, per dimension and side:
///
///            lower[0]  owned cells  upper[0]
///          |---------|------------|---------|   -> dimension 0
///
/// One number applies to every side; one per dimension to both of its sides. The domain throws
/// Error for a list of wrong length.
struct HaloWidth {
  std::array<int, max_dimensions> lower{};
  std::array<int, max_dimensions> upper{};
  int listed = 0;  ///< length of the list; 0: one value for all

  HaloWidth() = default;
  HaloWidth(int width) { lower.fill(width), upper.fill(width); }  // NOLINT: allows `.halo = 2`
  HaloWidth(std::initializer_list<int> per_dimension) {
    listed = fill_per_dimension(lower, per_dimension);
    upper = lower;
  }
  HaloWidth(std::array<int, max_dimensions> lower_, std::array<int, max_dimensions> upper_)
      : lower(lower_), upper(upper_) {}
  friend bool operator==(const HaloWidth& a, const HaloWidth& b) {
    return a.lower == b.lower && a.upper == b.upper;
  }
};

/// Dimensions in which a field lives on points. 1: point i is the lower face of cell i; n cells
/// have n + 1 points. −1: point i is the upper face of cell i; n cells have n points (NEMO, CICE,
/// MOM6 without symmetric memory), exchanged like cells, except at seams.
///
///     Stagger faces_across_x = {1, 0, 0}, vertices = 1, upper_vertices = -1;
struct Stagger {
  std::array<std::int16_t, max_dimensions> along{};
  int listed = 0;  ///< length of the list; 0: one value for all

  Stagger() = default;
  Stagger(int everywhere) { along.fill(kept(everywhere)); }  // NOLINT: allows `.stagger = 1`
  Stagger(std::initializer_list<int> per_dimension) {
    std::array<int, max_dimensions> values{};
    listed = fill_per_dimension(values, per_dimension);
    std::transform(values.begin(), values.end(), along.begin(), kept);
  }
  /// Extra points along dimension `d`.
  int more(int d) const { return std::max<int>(along[d], 0); }
  friend bool operator==(const Stagger& a, const Stagger& b) { return a.along == b.along; }

 private:
  static std::int16_t kept(int value) {
    return static_cast<std::int16_t>(std::clamp(value, -2, 1000));
  }  // clamps so that invalid values stay invalid
};

/// Throws Error for values other than −1, 0 and 1, or a list of wrong length.
void require_stagger(const Stagger& stagger, int dimensions);

/// Intersection; `box` with a halo; `box` moved by `shift`.
Box intersect(const Box& a, const Box& b);
Box grow(const Box& box, const HaloWidth& width, int dimensions);
Box translate(Box box, const Coordinates& shift);

/// "[0, 64) × [0, 64)"
std::string to_string(const Box& box, int dimensions);

}  // namespace parhelion

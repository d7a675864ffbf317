// The process grid, and the numbering of its points.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion::placement {

/// Coordinates or extents in the process grid. Unused trailing dimensions: extent 1, coordinate 0.
using Coords = std::array<int, max_dimensions>;

/// Ranks per dimension, 1 to 4 dimensions, each periodic or not.
struct ProcessGrid {
  int dimensions = 1;
  Coords extent{1, 1, 1, 1};
  std::array<bool, max_dimensions> periodic{};

  int size() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  std::vector<int> extents() const { return {extent.begin(), extent.begin() + dimensions}; }
};

/// `periodic`: one entry per dimension, one for all, or none (not periodic). Throws Error unless 1
/// to 4 dimensions, and for an extent below 1 or more than 2^31 − 1 points.
ProcessGrid make_grid(const std::vector<int>& extents, const std::vector<bool>& periodic = {});

/// Points in a box.
inline int volume(const Coords& box) { return box[0] * box[1] * box[2] * box[3]; }

/// Number of a point in a box, last dimension fastest, and the inverse.
inline int index_of(const Coords& box, const Coords& point) {
  return ((point[0] * box[1] + point[1]) * box[2] + point[2]) * box[3] + point[3];
}
inline Coords point_of(const Coords& box, int index) {
  Coords point;
  for (int d = max_dimensions; d-- > 0; index /= box[d]) point[d] = index % box[d];
  return point;
}

/// Extents for messages: 2x3x4.
std::string shown(const std::vector<int>& extents);

/// Numbers of grid points. "XYZ": x fastest, as published for hwcart; MPI_Cart has the last
/// dimension fastest ("ZYX" in 3-D).
class Numbering {
 public:
  /// Last dimension fastest, as in MPI_Cart_create and CartesianDomain.
  explicit Numbering(int dimensions);

  /// Parses letters (X, Y, Z, T) or numbers ("2,0,1") of the dimensions, fastest first; empty: the
  /// last dimension. Throws Error for anything else.
  static Numbering parse(const std::string& text, int dimensions);

  /// Number of a point in a grid of these extents, and the inverse.
  int rank(const Coords& extent, const Coords& point) const;
  Coords coords(const Coords& extent, int rank) const;

  const std::vector<int>& fastest_first() const { return fastest_first_; }
  std::string name() const;

 private:
  std::vector<int> fastest_first_;
};

}  // namespace parhelion::placement

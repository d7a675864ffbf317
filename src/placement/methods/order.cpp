#include <algorithm>
#include <numeric>

#include "methods.hpp"

namespace parhelion::placement {

// From the slowest dimension to the fastest. A dimension runs backwards on odd passes, which the
// rank of the slower ones counts.
Order path(const Coords& box, std::vector<int> fastest_first, bool to_and_fro) {
  for (int d = max_dimensions - 1; d >= 0; --d)
    if (std::ranges::find(fastest_first, d) == fastest_first.end()) fastest_first.push_back(d);
  Order order(volume(box));
  for (std::size_t p = 0; p < order.size(); ++p) {
    const Coords point = point_of(box, static_cast<int>(p));
    int& place = order[p];
    for (int i = max_dimensions - 1; i >= 0; --i) {
      const int d = fastest_first[i];
      const bool backwards = to_and_fro && place % 2 == 1;
      place = place * box[d] + (backwards ? box[d] - 1 - point[d] : point[d]);
    }
  }
  return order;
}

Order plain_path(const Problem& problem, const Coords& box) {
  std::vector<int> fastest_first(problem.grid.dimensions);
  std::iota(fastest_first.begin(), fastest_first.end(), 0);
  // Length relative to the ideal: the longest dimension is slowest.
  std::ranges::stable_sort(
      fastest_first, {}, [&](int d) { return box[d] / problem.cut_weight()[d]; });
  return path(box, fastest_first, true);
}

Order slab_after_slab(const Coords& box, int dimension, const std::vector<Slab>& slabs) {
  Order order(volume(box));
  Coords part = box, at{};
  int first = 0;
  for (const auto& [thickness, inside, mirror] : slabs) {
    part[dimension] = thickness;
    const int inner = part[3], step = mirror >> 3 & 1 ? -1 : 1;
    for (int row = 0; row < volume(part); row += inner) {
      Coords from = point_of(part, row), to = from;
      for (int d = 0; d < max_dimensions; ++d) {
        if (mirror >> d & 1) from[d] = part[d] - 1 - from[d];
        to[d] += at[d];
      }
      const int* place = &inside[index_of(part, from)];
      int* placed = &order[index_of(box, to)];
      for (int i = 0; i < inner; ++i, place += step) placed[i] = first + *place;
    }
    first += volume(part), at[dimension] += thickness;
  }
  return order;
}

std::pair<Coords, Coords> halves(const Coords& box, const Cut& cut) {
  Coords left = box, right = box;
  left[cut.dimension] = cut.thickness;
  right[cut.dimension] -= cut.thickness;
  return {left, right};
}

}  // namespace parhelion::placement

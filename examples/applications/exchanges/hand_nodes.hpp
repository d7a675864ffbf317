#pragma once

#include <vector>

#include "node_sums.hpp"

namespace applications {

/// Three fields on the nodes of a box, with packing and summation of planes, edges and corners.
struct HandNodes {
  std::array<std::vector<double>, 3> fields;
  Triple sides;

  explicit HandNodes(const NodeBox& box)
      : sides{box.cells[0] + 1, box.cells[1] + 1, box.cells[2] + 1} {
    for (std::vector<double>& field : fields) field.resize(static_cast<std::size_t>(box.nodes()));
  }

  /// Number of values on the plane, edge or corner in a direction (−1, 0 or 1 per dimension).
  std::size_t count(const Triple& direction) const {
    std::size_t nodes = 3;
    for (std::size_t d = 0; d < 3; ++d)
      nodes *= direction[d] == 0 ? static_cast<std::size_t>(sides[d]) : 1;
    return nodes;
  }
  void pack(const Triple& direction, double* packed) const {
    for (const std::vector<double>& field : fields)
      visit(direction, [&](std::size_t node) { *packed++ = field[node]; });
  }
  void add(const Triple& direction, const double* received) {
    for (std::vector<double>& field : fields)
      visit(direction, [&](std::size_t node) { field[node] += *received++; });
  }

 private:
  template <class Visit>
  void visit(const Triple& direction, Visit&& visit_node) const {
    Triple first{}, last{};
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] = direction[d] > 0 ? sides[d] - 1 : 0;
      last[d] = direction[d] < 0 ? 0 : sides[d] - 1;
    }
    for (int z = first[2]; z <= last[2]; ++z)
      for (int y = first[1]; y <= last[1]; ++y)
        for (int x = first[0]; x <= last[0]; ++x)
          visit_node(static_cast<std::size_t>(x + sides[0] * (y + sides[1] * z)));
  }
};

}  // namespace applications

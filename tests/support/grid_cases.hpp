// Structured cases for all transports.
#pragma once

#include <string>
#include <vector>

#include "support/grid_field.hpp"

namespace test {

struct GridCase {
  std::string name;
  std::vector<global_index> extents;
  CartesianOptions options;
};

/// {standard, by_dimension, faces} × 1 to 4 dimensions × {open even, periodic uneven, mixed with
/// several blocks}.
std::vector<GridCase> grid_cases(int ranks);

/// `count` fields that differ in element type, components, layout and halo width, by `turn`.
std::vector<GridField> make_fields(const CartesianDomain& domain, int count, int turn,
    Memory memory, const std::vector<Element>& elements = all_elements());

}  // namespace test

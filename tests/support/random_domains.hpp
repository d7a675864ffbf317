// Random domains of both kinds, with random fields.
#pragma once

#include <vector>

#include "support/cell_field.hpp"
#include "support/grid_field.hpp"
#include "support/random.hpp"

namespace test {

CartesianDomain random_domain(Random& random);
/// 1 to 4 fields whose elements support sums.
std::vector<GridField> random_fields(Random& random, const CartesianDomain& domain, Memory memory);

struct RandomMesh {
  Mesh mesh;
  SelfGhosts self;
  IndexedDomain domain() const { return mesh.domain(self); }
};
RandomMesh random_mesh(Random& random);
std::vector<CellField> random_fields(
    Random& random, const IndexedDomain& domain, const Mesh& mesh, Memory memory);

}  // namespace test

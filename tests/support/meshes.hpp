// Unstructured cases for all transports.
#pragma once

#include <string>
#include <vector>

#include "support/cell_field.hpp"

namespace test {

struct MeshCase {
  std::string name;
  Mesh mesh;
  SelfGhosts self = SelfGhosts::refused;
};

/// Blocks and arbitrary ownership, unsorted and repeated ghosts, empty ranks, own ghosts, no
/// ghosts, ids beyond 2^31.
std::vector<MeshCase> mesh_cases(int ranks);

/// `count` ghosts for `rank`, unsorted, some repeated; with `own`, also its own cells.
std::vector<global_index> random_ghosts(
    const Mesh& mesh, std::size_t rank, int count, bool own, std::uint64_t seed);

std::vector<CellField> make_fields(const IndexedDomain& domain, const Mesh& mesh, int count,
    int turn, Memory memory, const std::vector<Element>& elements = all_elements());

}  // namespace test

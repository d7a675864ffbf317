#include "support/meshes.hpp"

#include <algorithm>

#include "support/random.hpp"

namespace test {
namespace {

Mesh blocks(int ranks, int largest, std::uint64_t seed) {
  Random random(seed);
  std::vector<global_index> sizes;
  for (int r = 0; r < ranks; ++r) sizes.push_back(random.between(1, largest));
  return Mesh::of_blocks(sizes);
}

void add_ghosts(Mesh& mesh, int count, bool own, std::uint64_t seed) {
  for (std::size_t rank = 0; rank < mesh.ghosts.size(); ++rank)
    mesh.ghosts[rank] = random_ghosts(mesh, rank, count, own, seed);
}

// Ids dealt to ranks at random, `spread` apart, so that most ids have no owner.
Mesh dealt(int ranks, int cells, global_index spread, std::uint64_t seed) {
  Random random(seed);
  Mesh mesh;
  mesh.blocks = false;
  mesh.owned.resize(static_cast<std::size_t>(ranks));
  mesh.ghosts.resize(static_cast<std::size_t>(ranks));
  std::vector<global_index> ids;
  for (int i = 0; i < cells; ++i) ids.push_back(i * spread + random.between(0, spread > 1 ? 1 : 0));
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.next() % i]);
  for (global_index id : ids) mesh.owned[random.next() % mesh.owned.size()].push_back(id);
  return mesh;
}

// As in a partitioned mesh, ghosts are the cells within `width` of the block, ascending.
Mesh banded(int ranks, global_index cells, global_index width) {
  Mesh mesh = Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(ranks), cells));
  for (std::size_t r = 0; r < mesh.owned.size(); ++r) {
    const global_index first = mesh.owned[r].front(), end = mesh.owned[r].back() + 1;
    for (global_index id = std::max<global_index>(0, first - width); id < first; ++id)
      mesh.ghosts[r].push_back(id);
    for (global_index id = end; id < std::min(mesh.cells(), end + width); ++id)
      mesh.ghosts[r].push_back(id);
  }
  return mesh;
}

}  // namespace

std::vector<global_index> random_ghosts(
    const Mesh& mesh, std::size_t rank, int count, bool own, std::uint64_t seed) {
  Random random(mix(seed, rank));
  std::vector<global_index> from, ghosts;
  for (std::size_t r = 0; r < mesh.owned.size(); ++r)
    if (own || r != rank) from.insert(from.end(), mesh.owned[r].begin(), mesh.owned[r].end());
  for (int i = 0; !from.empty() && i < count; ++i)
    ghosts.push_back(
        !ghosts.empty() && random.chance(20) ? random.pick(ghosts) : random.pick(from));
  return ghosts;
}

std::vector<MeshCase> mesh_cases(int ranks) {
  std::vector<MeshCase> cases;
  cases.push_back({"a band of neighbors, in order", banded(ranks, 20, 7)});
  cases.push_back({"a band wider than a block", banded(ranks, 5, 12)});
  cases.push_back({"blocks, random ghosts", blocks(ranks, 30, 1)});
  add_ghosts(cases.back().mesh, 40, false, 1);
  cases.push_back(
      {"blocks, own cells among the ghosts", blocks(ranks, 30, 2), SelfGhosts::allowed});
  add_ghosts(cases.back().mesh, 40, true, 2);
  cases.push_back({"arbitrary ownership", dealt(ranks, 60, 1, 3)});
  add_ghosts(cases.back().mesh, 30, false, 3);
  cases.push_back({"ids beyond 2^31 with gaps", dealt(ranks, 60, global_index{1} << 40, 4),
      SelfGhosts::allowed});
  add_ghosts(cases.back().mesh, 30, true, 4);
  Mesh last_owns_all =
      Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(ranks), 0));
  last_owns_all.owned.back() = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  cases.push_back({"one rank owns everything", last_owns_all});
  add_ghosts(cases.back().mesh, 15, false, 5);
  cases.push_back({"nobody reads anything", blocks(ranks, 9, 6)});
  cases.push_back({"nobody owns anything",
      Mesh::of_blocks(std::vector<global_index>(static_cast<std::size_t>(ranks), 0))});
  return cases;
}

std::vector<CellField> make_fields(const IndexedDomain& domain, const Mesh& mesh, int count,
    int turn, Memory memory, const std::vector<Element>& elements) {
  std::vector<CellField> fields;
  for (int f = 0; f < count; ++f) {
    const int number = turn * count + f;
    const auto random = mix(static_cast<std::uint64_t>(number));
    const CellSpec spec{elements[static_cast<std::size_t>(number) % elements.size()],
        1 + static_cast<int>(random % 3), static_cast<CellLayout>(random / 3 % 3)};
    fields.emplace_back(domain, mesh, spec, number, memory);
  }
  return fields;
}

}  // namespace test

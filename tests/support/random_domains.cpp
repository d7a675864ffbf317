#include "support/random_domains.hpp"

#include <algorithm>

namespace test {
namespace {

std::vector<int> random_process_grid(Random& random, int ranks, int dims) {
  std::vector<int> grid(static_cast<std::size_t>(dims), 1);
  for (int factor = 2; ranks > 1; ++factor)
    for (; ranks % factor == 0; ranks /= factor) grid[random.next() % grid.size()] *= factor;
  return grid;
}

std::vector<global_index> random_split(Random& random, global_index cells, int parts) {
  std::vector<global_index> split(static_cast<std::size_t>(parts), 0);
  for (global_index i = 0; i < cells; ++i) ++split[random.next() % split.size()];
  return split;
}

HaloWidth random_halo(Random& random, int dims, int widest) {
  HaloWidth halo = 0;
  for (int d = 0; d < dims; ++d)
    halo.lower[d] = random.between(0, widest), halo.upper[d] = random.between(0, widest);
  return halo;
}

HaloWidth within(Random& random, HaloWidth halo) {
  for (int d = 0; d < max_dimensions; ++d)
    halo.lower[d] = random.between(0, halo.lower[d]),
    halo.upper[d] = random.between(0, halo.upper[d]);
  return halo;
}

Stagger random_stagger(Random& random, int dims) {
  Stagger stagger;
  for (int d = 0; d < dims; ++d) stagger.along[d] = random.chance(40);
  return stagger;
}

RankOrder random_rank_order(Random& random, int ranks) {
  if (random.chance(50))
    return random.pick(std::vector<RankFill>{RankFill::last_fastest, RankFill::first_fastest});
  std::vector<int> table(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int>(i);
  for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[random.next() % i]);
  return table;
}

// More places along a dimension, of which ranks have any number.
void deal_places(Random& random, CartesianOptions& options) {
  const auto d = random.next() % options.process_grid.size();
  const std::size_t more = static_cast<std::size_t>(random.between(1, 3));
  options.process_grid[d] += static_cast<int>(more);
  if (!options.splits[d].empty()) options.splits[d].resize(options.splits[d].size() + more);
  std::vector<int>& table = options.rank_order.ranks;
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  std::size_t places = 1;
  for (const int along : options.process_grid) places *= static_cast<std::size_t>(along);
  table.clear();
  for (std::size_t place = 0; place < places; ++place)
    table.push_back(place < static_cast<std::size_t>(ranks) ? static_cast<int>(place)
                                                            : random.between(0, ranks - 1));
  for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[random.next() % i]);
}

Mesh random_blocks(Random& random, int ranks) {
  std::vector<global_index> sizes;
  for (int r = 0; r < ranks; ++r) sizes.push_back(random.chance(20) ? 0 : random.between(1, 60));
  return Mesh::of_blocks(sizes);
}

Mesh random_ownership(Random& random, int ranks) {
  Mesh mesh;
  mesh.blocks = false;
  mesh.owned.resize(static_cast<std::size_t>(ranks));
  mesh.ghosts.resize(static_cast<std::size_t>(ranks));
  const int gap = random.pick(std::vector<int>{1, 1, 3, 1 << 20});
  const global_index far = random.chance(30) ? global_index{1} << random.between(31, 58) : 0;
  global_index id = far;
  std::vector<global_index> ids;
  for (int i = random.between(0, 200); i > 0; --i) ids.push_back(id += random.between(1, gap));
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.next() % i]);
  for (global_index each : ids) mesh.owned[random.next() % mesh.owned.size()].push_back(each);
  return mesh;
}

void add_random_ghosts(Random& random, Mesh& mesh, bool own) {
  for (std::size_t rank = 0; rank < mesh.ghosts.size(); ++rank) {
    std::vector<global_index> from;
    for (std::size_t r = 0; r < mesh.owned.size(); ++r)
      if ((own || r != rank) && !random.chance(30))
        from.insert(from.end(), mesh.owned[r].begin(), mesh.owned[r].end());
    auto& ghosts = mesh.ghosts[rank];
    if (!from.empty() && !random.chance(10))
      for (int i = random.between(0, 80); i > 0; --i) ghosts.push_back(random.pick(from));
    const int order = random.between(0, 2);
    if (order > 0) std::sort(ghosts.begin(), ghosts.end());
    if (order == 2) ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  }
}

}  // namespace

CartesianDomain random_domain(Random& random) {
  const int dims = random.between(1, max_dimensions);
  const int largest[] = {40, 14, 8, 5}, widest[] = {6, 4, 3, 2};
  std::vector<global_index> extents;
  CartesianOptions options;
  options.process_grid = random_process_grid(random, Communicator(MPI_COMM_WORLD).size(), dims);
  options.halo = random_halo(random, dims, widest[dims - 1]);
  for (int d = 0; d < dims; ++d) {
    extents.push_back(random.between(random.chance(3) ? 0 : 1, largest[dims - 1]));
    options.periodic.along[d] = random.chance(50);
    options.blocks_per_rank.push_back(random.chance(25) ? random.between(2, dims > 2 ? 2 : 4) : 1);
    options.splits.push_back(random.chance(50)
                                 ? std::vector<global_index>{}
                                 : random_split(random, extents[d], options.process_grid[d]));
  }
  if (random.chance(20)) options.process_grid.clear(), options.splits.clear();
  options.rank_order = random_rank_order(random, Communicator(MPI_COMM_WORLD).size());
  if (!options.process_grid.empty() && random.chance(20)) deal_places(random, options);
  if (random.chance(40)) options.boundary = Boundary::owned;
  const int kind = random.between(0, 2);
  if (kind == 1) options.algorithm = Algorithm::by_dimension;
  if (kind == 2) options.neighbors = Neighbors::faces;
  return {extents, options};
}

std::vector<GridField> random_fields(Random& random, const CartesianDomain& domain, Memory memory) {
  std::vector<GridField> fields;
  for (int f = random.between(1, 4); f > 0; --f) {
    const GridSpec spec{random.pick(combinable(Reduction::sum)), random.between(1, 4),
        random.chance(50) ? domain.halo() : within(random, domain.halo()),
        static_cast<Layout>(random.between(0, 2)),
        random.chance(50) ? Stagger() : random_stagger(random, domain.dimensions()),
        random.chance(50) ? HaloWidth(0) : random_halo(random, domain.dimensions(), 2)};
    fields.emplace_back(domain, spec, random.between(0, 1000000), memory);
  }
  return fields;
}

RandomMesh random_mesh(Random& random) {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  Mesh mesh = random.chance(50) ? random_blocks(random, ranks) : random_ownership(random, ranks);
  const bool own = random.chance(30);
  add_random_ghosts(random, mesh, own);
  return {std::move(mesh), own ? SelfGhosts::allowed : SelfGhosts::refused};
}

std::vector<CellField> random_fields(
    Random& random, const IndexedDomain& domain, const Mesh& mesh, Memory memory) {
  std::vector<CellField> fields;
  for (int f = random.between(1, 4); f > 0; --f) {
    const CellSpec spec{random.pick(combinable(Reduction::sum)), random.between(1, 4),
        static_cast<CellLayout>(random.between(0, 2))};
    fields.emplace_back(domain, mesh, spec, random.between(0, 1000000), memory);
  }
  return fields;
}

}  // namespace test

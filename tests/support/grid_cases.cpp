#include "support/grid_cases.hpp"

namespace test {
namespace {

const std::vector<std::vector<global_index>> extents_of{{23}, {9, 7}, {6, 5, 4}, {4, 3, 3, 4}};

// Parts grow along the dimension; of three or more parts the second is empty.
std::vector<global_index> uneven(global_index extent, int parts) {
  std::vector<global_index> split(static_cast<std::size_t>(parts), 0);
  for (global_index cell = 0; cell < extent; ++cell) {
    auto part = static_cast<std::size_t>(
        mix(static_cast<std::uint64_t>(cell)) % static_cast<std::uint64_t>(parts));
    if (parts > 2 && part == 1) part = 2;
    ++split[part];
  }
  return split;
}

CartesianOptions open_and_even(int) { return {}; }

CartesianOptions periodic_and_uneven(int dims, int ranks) {
  CartesianOptions options;
  options.halo = {{1, 2, 1, 0}, {2, 1, 0, 1}};
  options.periodic = true;
  options.process_grid.assign(static_cast<std::size_t>(dims), 1);
  if (ranks % 2 == 0 && dims > 1) {
    options.process_grid[0] = 2;
    ranks /= 2;
  }
  options.process_grid[static_cast<std::size_t>(dims - 1)] *= ranks;
  for (int d = 0; d < dims; ++d)
    options.splits.push_back(
        uneven(extents_of[static_cast<std::size_t>(dims - 1)][static_cast<std::size_t>(d)],
            options.process_grid[static_cast<std::size_t>(d)]));
  return options;
}

CartesianOptions mixed_in_blocks(int dims) {
  CartesianOptions options;
  options.halo = 2;
  options.periodic.along = {true, false, true, false};
  options.blocks_per_rank.assign(static_cast<std::size_t>(dims), 1);
  options.blocks_per_rank[0] = 2;
  options.blocks_per_rank[static_cast<std::size_t>(dims - 1)] += 1;
  return options;
}

struct Kind {
  const char* name;
  Neighbors neighbors;
  Algorithm algorithm;
};
const std::vector<Kind> kinds{{"standard", Neighbors::full, Algorithm::standard},
    {"staged", Neighbors::full, Algorithm::by_dimension},
    {"faces", Neighbors::faces, Algorithm::standard}};

HaloWidth narrower(HaloWidth halo, int turn) {
  for (int d = 0; d < max_dimensions; ++d) {
    if (turn % 3 == 1) halo.lower[d] = std::max(0, halo.lower[d] - 1);
    if (turn % 3 == 2) halo.upper[d] = std::max(0, halo.upper[d] - 1);
  }
  return halo;
}

}  // namespace

std::vector<GridCase> grid_cases(int ranks) {
  std::vector<GridCase> cases;
  for (const Kind& kind : kinds)
    for (int dims = 1; dims <= max_dimensions; ++dims) {
      const auto add = [&](const char* how, CartesianOptions options) {
        options.neighbors = kind.neighbors;
        options.algorithm = kind.algorithm;
        cases.push_back({std::string(kind.name) + ", " + std::to_string(dims) + "-D, " + how,
            extents_of[static_cast<std::size_t>(dims - 1)], options});
      };
      add("open and even", open_and_even(dims));
      add("periodic and uneven", periodic_and_uneven(dims, ranks));
      add("mixed, several blocks", mixed_in_blocks(dims));
    }
  return cases;
}

std::vector<GridField> make_fields(const CartesianDomain& domain, int count, int turn,
    Memory memory, const std::vector<Element>& elements) {
  std::vector<GridField> fields;
  for (int f = 0; f < count; ++f) {
    const int number = turn * count + f;
    const auto random = mix(static_cast<std::uint64_t>(number));
    const GridSpec spec{elements[static_cast<std::size_t>(number) % elements.size()],
        1 + static_cast<int>(random % 3), narrower(domain.halo(), f),
        static_cast<Layout>(random / 3 % 3)};
    fields.emplace_back(domain, spec, number, memory);
  }
  return fields;
}

}  // namespace test

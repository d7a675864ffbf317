// Jsum and Jmax, checked against an edge count.
#include <map>
#include <numeric>
#include <random>

#include "parhelion/placement/score.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

// The definition: loops over all points and offsets.
LevelScore count(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine, int level,
    const std::vector<int>& positions) {
  const Numbering numbering(4);
  std::map<int, LevelScore> leaving;
  for (int p = 0; p < grid.size(); ++p)
    for (const auto& offset : stencil.offsets) {
      Coords to = numbering.coords(grid.extent, p);
      bool inside = true;
      for (std::size_t d = 0; d < 4; ++d) {
        to[d] += offset.step[d];
        if (grid.periodic[d]) to[d] = ((to[d] % grid.extent[d]) + grid.extent[d]) % grid.extent[d];
        inside = inside && to[d] >= 0 && to[d] < grid.extent[d];
      }
      if (!inside) continue;
      const int here = machine.unit_of(level, positions[static_cast<std::size_t>(p)]);
      const int there = machine.unit_of(
          level, positions[static_cast<std::size_t>(numbering.rank(grid.extent, to))]);
      leaving[here].sent_max += offset.bytes;
      if (here != there) leaving[here].edges_sum += 1, leaving[here].bytes_sum += offset.bytes;
    }
  LevelScore total;
  for (const auto& [unit, score] : leaving) {
    total.edges_sum += score.edges_sum,
        total.edges_max = std::max(total.edges_max, score.edges_sum);
    total.bytes_sum += score.bytes_sum,
        total.bytes_max = std::max(total.bytes_max, score.bytes_sum);
    total.sent_max = std::max(total.sent_max, score.sent_max);
  }
  return total;
}

Stencil random_stencil(std::mt19937& random, int dimensions) {
  Stencil stencil;
  const auto step = [&] { return static_cast<int>(random() % 7) - 3; };
  while (stencil.offsets.size() < 5) {
    Offset offset;
    for (int d = 0; d < dimensions; ++d) offset.step[static_cast<std::size_t>(d)] = step();
    offset.bytes = 1 + static_cast<std::int64_t>(random() % 9);
    if (offset.step != Coords{}) stencil.offsets.push_back(offset);
  }
  return stencil;
}

}  // namespace

CASE("scores equal a count of every edge, for random grids, stencils and placements") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int dimensions = 1 + static_cast<int>(random() % 4);
    std::vector<int> extents;
    std::vector<bool> periodic;
    for (int d = 0; d < dimensions; ++d) {
      extents.push_back(1 + static_cast<int>(random() % 6));
      periodic.push_back(random() % 2 == 0);
    }
    const auto grid = make_grid(extents, periodic);
    std::vector<int> ranks_per_node;
    for (int left = grid.size(); left > 0; left -= ranks_per_node.back())
      ranks_per_node.push_back(1 + static_cast<int>(random() % static_cast<unsigned>(left)));
    const auto nodes = std::to_string(ranks_per_node.size());
    const auto machine =
        make_machine(parse_topology("node:" + nodes + " pack:2 core:3"), ranks_per_node);
    std::vector<int> positions(static_cast<std::size_t>(grid.size()));
    std::iota(positions.begin(), positions.end(), 0);
    std::shuffle(positions.begin(), positions.end(), random);
    const auto stencil = random_stencil(random, dimensions);
    const auto scores = score(grid, stencil, machine, positions);
    for (int level = 0; level < machine.levels(); ++level)
      ASSERT_EQ(
          scores[static_cast<std::size_t>(level)], count(grid, stencil, machine, level, positions));
  }
}

CASE(
    "two periodic points are each both left and right neighbor, and a point is no neighbor of "
    "itself") {
  const auto machine = make_machine(parse_topology("node:2"), {1});
  EXPECT_EQ(score(make_grid({2}, {true}), faces(1), machine, {0, 1})[0].edges_sum, 4);
  EXPECT_EQ(score(make_grid({2}), faces(1), machine, {0, 1})[0].edges_sum, 2);
  EXPECT_EQ(score(make_grid({1, 2}, {true}), faces(2), machine, {0, 1})[0].edges_sum, 4);
}

CASE("halo bytes weigh faces by their area") {
  const auto stencil = with_halo_bytes(full(3), {10, 20, 30}, 2, 4);
  std::map<Coords, std::int64_t> bytes;
  for (const auto& offset : stencil.offsets) bytes[offset.step] = offset.bytes;
  EXPECT_EQ(bytes.at({1, 0, 0, 0}), 2 * 20 * 30 * 4);
  EXPECT_EQ(bytes.at({0, -1, 1, 0}), 10 * 2 * 2 * 4);
  EXPECT_EQ(bytes.at({1, 1, 1, 0}), 2 * 2 * 2 * 4);
}

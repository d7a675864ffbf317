// Automatic placement reaches published scores and is never worse than any of its methods.
#include <chrono>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/placement.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

struct Row {
  std::vector<int> grid;
  int nodes, ranks;
  const char* stencil;
  bool periodic;
  std::int64_t blocked_sum, blocked_max, best_sum, best_max;
};

constexpr const char* hops = "faces, and hops of 2 and 3";

Stencil stencil_named(const std::string& name, int dimensions) {
  if (name == "full") return full(dimensions);
  Stencil stencil = faces(dimensions);
  if (name == hops)
    for (const int step : {2, -2, 3, -3}) stencil.offsets.push_back({{step}});
  return stencil;
}

Machine nodes_of(int nodes, int ranks) {
  return make_machine(parse_topology("node:" + std::to_string(nodes)), {ranks});
}

bool bijective(const Placement& placement) {
  for (int p = 0; p < placement.machine().size(); ++p)
    if (placement.position(placement.point(p)) != p) return false;
  return true;
}

}  // namespace

CASE("the best published scores are reached or beaten, found automatically") {
  // Hunold et al. 2020 and the published hwcart machine; must reach both published objectives.
  const Row rows[] = {
      {{50, 48}, 50, 48, "faces", false, 4704, 96, 1204, 28},
      {{50, 48}, 50, 48, "full", false, 13916, 284, 3528, 80},
      {{50, 48}, 50, 48, hops, false, 13824, 288, 3268, 88},
      {{75, 64}, 100, 48, "faces", false, 9622, 98, 2654, 30},
      {{16, 15, 10}, 50, 48, "faces", false, 5508, 118, 3068, 80},
      {{12, 12, 12}, 27, 64, "faces", true, 4392, 180, 2592, 96},
      {{64, 64, 32}, 1024, 128, "faces", true, 327680, 320, 163840, 160},
  };
  for (const auto& row : rows)
    for (const auto objective : {Objective::jsum, Objective::jmax}) {
      const auto grid = make_grid(row.grid, {row.periodic});
      const auto machine = nodes_of(row.nodes, row.ranks);
      const auto found =
          place({grid, stencil_named(row.stencil, grid.dimensions), objective}, machine);
      CAPTURE(row.stencil);
      CAPTURE(grid.size());
      EXPECT_EQ(found.members.front().name, "blocked");
      EXPECT_EQ(found.members.front().scores[0].edges_sum, row.blocked_sum);
      EXPECT_EQ(found.members.front().scores[0].edges_max, row.blocked_max);
      EXPECT_LE(found.scores[0].edges_sum, row.best_sum);
      EXPECT_LE(found.scores[0].edges_max, row.best_max);
      EXPECT_EQ(found.scores, found.placement.scores(stencil_named(row.stencil, grid.dimensions)));
      EXPECT_TRUE(bijective(found.placement));
    }
}

CASE("on the published machine no level is worse than with the published blocks") {
  for (const int ranks : {64, 128})
    for (const char* name : {"faces", "full"}) {
      CAPTURE(ranks);
      CAPTURE(name);
      const auto machine =
          make_machine(parse_topology("node:27 pack:2 numa:4 l3:4 core:4"), {ranks});
      const auto by_hand = place_by_hand(machine,
          {{"node", {3, 3, 3}}, {"socket", {1, 1, 2}}, {"numa", {1, 2, 2}}, {"l3", {2, 2, 1}},
              {"core", {ranks / 32, 1, 1}}},
          {true});
      const auto published = by_hand.scores(stencil_named(name, 3));
      for (const auto objective : {Objective::jsum, Objective::jmax}) {
        const auto found = place({by_hand.grid(), stencil_named(name, 3), objective}, machine);
        for (std::size_t level = 0; level < published.size(); ++level) {
          CAPTURE(level);
          EXPECT_LE(found.scores[level].edges_sum, published[level].edges_sum);
          EXPECT_LE(found.scores[level].edges_max, published[level].edges_max);
        }
      }
    }
}

CASE("131072 ranks on five levels are placed without local search, and the note says so") {
  const auto machine = make_machine(parse_topology("node:1024 pack:2 numa:4 l3:4 core:4"), {128});
  const auto found = place({make_grid({64, 64, 32}, {true}), faces(3)}, machine);
  EXPECT_EQ(found.placement.moved_points(), 0);
  EXPECT_NE(found.note.find("not refined"), std::string::npos);
  EXPECT_TRUE(bijective(found.placement));
}

CASE("points that local search moved are counted, and still have a position each") {
  const auto machine = make_machine(parse_topology("node:3"), {300, 299, 300});
  const auto found = place({make_grid({29, 31}), full(2)}, machine);
  EXPECT_GT(found.placement.moved_points(), 0);
  EXPECT_TRUE(bijective(found.placement));
}

CASE("positions that are no bijection are refused") {
  const auto two = [](std::vector<int> positions) {
    return Placement(make_grid({2}), nodes_of(1, 2), std::move(positions));
  };
  EXPECT_EQ(two({1, 0}).point(1), (Coords{0, 0, 0, 0}));
  EXPECT_ERROR(parhelion::Error, "exactly one point", two({1, 1}));
  EXPECT_ERROR(parhelion::Error, "exactly one point", two({0, 2}));
  EXPECT_ERROR(parhelion::Error, "for 1 of 2 points", two({0}));
}

CASE("weights turn the blocks: an expensive dimension is cut less") {
  const auto machine = nodes_of(4, 16);
  const auto crossing = [&](const std::vector<std::int64_t>& weights) {
    Stencil stencil = faces(2);
    for (auto& offset : stencil.offsets) offset.bytes = weights[offset.step[0] == 0];
    const auto found = place({make_grid({8, 8}), stencil}, machine);
    int cuts = 0;
    for (int y = 0; y < 8; ++y)
      for (int x = 1; x < 8; ++x)
        cuts += found.placement.node({x - 1, y, 0, 0}) != found.placement.node({x, y, 0, 0});
    return cuts;
  };
  EXPECT_EQ(crossing({100, 1}), 0);
  EXPECT_EQ(crossing({1, 100}), 24);
}

CASE("the process grid can be chosen from the cells alone") {
  const auto machine = make_machine(parse_topology("node:27 pack:2 numa:4 l3:4 core:4"), {64});
  const auto cube = choose_grid(machine, {768, 768, 768}, faces(3), 1, 4, {true}, Objective::jsum);
  EXPECT_EQ(cube.grid.extent, (Coords{12, 12, 12, 1}));
  const auto flat =
      choose_grid(nodes_of(4, 4), {4000, 4, 4}, faces(3), 1, 4, {false}, Objective::jsum);
  EXPECT_EQ(flat.grid.extent, (Coords{16, 1, 1, 1}));
  EXPECT_ERROR(parhelion::Error, "do not fit",
      choose_grid(nodes_of(7, 1), {2, 2}, faces(2), 1, 4, {}, Objective::jsum));
  EXPECT_THROW(
      static_cast<void>(choose_grid(nodes_of(7, 1), {}, faces(2), 1, 4, {}, Objective::jsum)),
      parhelion::Error);
}

CASE("a grid of another size than the machine is refused") {
  EXPECT_ERROR(parhelion::Error, "35 points, but the machine has 36",
      place({make_grid({5, 7}), faces(2)}, nodes_of(6, 6)));
}

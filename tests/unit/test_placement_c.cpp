// The C interface of placement validates its numbers before use.
#include <array>
#include <limits>
#include <memory>
#include <string>

#include "parhelion/placement/c_interface.h"
#include "support/cases.hpp"

namespace {

constexpr int absurd[] = {-1, 99, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};

bool told(const std::string& part) {
  CAPTURE(phl_last_error());
  const bool found = std::string(phl_last_error()).find(part) != std::string::npos;
  EXPECT_TRUE(found);
  return found;
}

constexpr int offsets[4] = {1, 0, 0, 1}, extents[2] = {4, 2};
constexpr phl_process_grid grid{2, extents, nullptr};
constexpr phl_stencil stencil{2, offsets, nullptr, nullptr, 0, 0};

struct Made {
  phl_machine* machine = nullptr;
  phl_placement* placement = nullptr;
  Made() {
    const int ranks = 4;
    EXPECT_EQ(phl_machine_create("node:2 core:4", 2, 1, &ranks, 0, &machine), 0);
    EXPECT_EQ(phl_place(machine, &grid, &stencil, 0, 0, "", nullptr, &placement), 0);
  }
  ~Made() {
    phl_placement_free(placement);
    phl_machine_free(machine);
  }
};

}  // namespace

CASE("levels, positions and members that are not there are refused with a message") {
  const Made made;
  phl_member member;
  int unit = -1;
  for (const int number : absurd) {
    CAPTURE(number);
    const int first = 0, inner = 1;
    EXPECT_NE(phl_machine_units(made.machine, number, 0, 1, &first, &unit), 0);
    told("level");
    EXPECT_NE(phl_machine_units(made.machine, 1, 1, 1, &number, &unit), 0);
    told("position");
    EXPECT_NE(phl_machine_units(made.machine, number, 1, 1, &inner, &unit), 0);
    if (number == -1) continue;  // −1 denotes the whole placement
    EXPECT_NE(phl_placement_member(made.placement, number, &member), 0);
    told("member");
  }
  phl_machine_facts facts;
  EXPECT_EQ(phl_machine_describe(made.machine, &facts), 0);
  EXPECT_EQ(facts.levels, 2);
  EXPECT_EQ(facts.units[1], 8);
  EXPECT_EQ(std::string(facts.level[1]), "core");
  const int last = 7;
  EXPECT_EQ(phl_machine_units(made.machine, 1, 0, 1, &last, &unit), 0);
  EXPECT_EQ(unit, 7);
  EXPECT_EQ(phl_machine_units(made.machine, 1, 1, 1, &last, &unit), 0);
  EXPECT_EQ(unit, 3);
}

CASE("placements tell their grid, positions and scores; those by hand have no members") {
  const Made made;
  phl_placement_facts facts;
  ASSERT_EQ(phl_placement_describe(made.placement, &facts), 0);
  EXPECT_EQ(facts.dimensions, 2);
  EXPECT_EQ(facts.grid[0] * facts.grid[1], 8);
  EXPECT_EQ(facts.positions[0], 0);
  phl_member chosen, first;
  ASSERT_EQ(phl_placement_member(made.placement, -1, &chosen), 0);
  ASSERT_EQ(phl_placement_member(made.placement, 0, &first), 0);
  EXPECT_EQ(std::string(first.name), "blocked");
  EXPECT_EQ(chosen.levels, 2);
  phl_scores scores;
  ASSERT_EQ(phl_placement_scores(made.placement, &stencil, scores), 0);
  for (int level = 0; level < 2; ++level)
    for (int value = 0; value < 4; ++value)
      EXPECT_EQ(scores[level][value], chosen.scores[level][value]);
  phl_placement* by_hand = nullptr;
  const int blocks[4] = {2, 1, 2, 2};
  ASSERT_EQ(phl_place_by_hand(made.machine, 2, "node core", blocks, nullptr, "", &by_hand), 0);
  EXPECT_EQ(phl_placement_member(by_hand, -1, &chosen), 0);
  EXPECT_EQ(chosen.levels, 0);
  EXPECT_EQ(phl_placement_describe(by_hand, &facts), 0);
  EXPECT_EQ(facts.members, 0);
  phl_placement_free(by_hand);
}

CASE("numberings tell how far apart neighbors are numbered") {
  int strides[2] = {0, 0};
  const phl_process_grid none{0, extents, nullptr};
  EXPECT_EQ(phl_numbering(&grid, "", strides), 0);
  EXPECT_EQ(strides[0], 2);
  EXPECT_EQ(phl_numbering(&grid, "XY", strides), 0);
  EXPECT_EQ(strides[1], 4);
  EXPECT_NE(phl_numbering(&grid, "XX", strides), 0);
  told("does not name each");
  EXPECT_NE(phl_numbering(&none, "", strides), 0);
  told("dimensions");
}

CASE("between nodes without cells bytes are not known, and time cannot be predicted") {
  const Made made;
  const int nodes[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  const std::int64_t extent[2] = {3, 5};
  const phl_stencil halo{2, offsets, nullptr, extent, 1, 8};
  std::array<std::int64_t, 6> traffic{};
  int pairs = 0;
  ASSERT_EQ(phl_node_pairs(&grid, nodes, &stencil, 1, &pairs, traffic.data()), 0);
  EXPECT_EQ(pairs, 1);
  EXPECT_EQ(traffic, (std::array<std::int64_t, 6>{0, 1, 2, 2, 1, -1}));
  ASSERT_EQ(phl_node_pairs(&grid, nodes, &halo, 1, &pairs, traffic.data()), 0);
  EXPECT_EQ(traffic, (std::array<std::int64_t, 6>{0, 1, 2, 2 * 5 * 8, 1, 2 * 5 * 8}));
  const double each[1] = {1e-6};
  const phl_exchange_costs costs{"node", each, each, 0, 0};
  phl_placement* placement = nullptr;
  EXPECT_NE(phl_place(made.machine, &grid, &stencil, 0, 1, "", &costs, &placement), 0);
  told("depends on its cells");
}

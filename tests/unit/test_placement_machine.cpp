// Machine descriptions, and the unit of each rank.
#include "parhelion/core/error.hpp"
#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/placement.hpp"
#include "parhelion/placement/process_grid.hpp"
#include "parhelion/placement/stencil.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;
using parhelion::Error;

namespace {

Stencil one_step(int along) { return {{{{along}}}}; }

}  // namespace

CASE("64 ranks on 128 cores take every second core when spread, and the first 64 when compact") {
  const auto topology = parse_topology("node:27 pack:2 numa:4 l3:4 core:4");
  const auto spread = make_machine(topology, {64});
  EXPECT_EQ(spread.size(), 27 * 64);
  EXPECT_EQ(spread.unit_in_node(4, 1), 2);
  EXPECT_EQ(spread.unit_in_node(1, 32), 1);
  EXPECT_EQ(spread.unit_of(4, 64), 128);
  const auto compact = make_machine(topology, {64}, Binding::compact);
  EXPECT_EQ(compact.unit_in_node(4, 1), 1);
  EXPECT_EQ(compact.unit_in_node(1, 63), 0);
}

CASE("every unit of a level is an interval of positions, nested in one unit around it") {
  const auto machine = make_machine(parse_topology("node:3 socket:2 l3:3 core:4"), {7, 24, 31});
  EXPECT_EQ(machine.size(), 62);
  for (int level = 1; level < machine.levels(); ++level)
    for (int p = 1; p < machine.size(); ++p) {
      ASSERT_GE(machine.unit_of(level, p), machine.unit_of(level, p - 1));
      if (machine.unit_of(level, p) == machine.unit_of(level, p - 1))
        ASSERT_EQ(machine.unit_of(level - 1, p), machine.unit_of(level - 1, p - 1));
    }
  EXPECT_EQ(machine.node_of(6), 0);
  EXPECT_EQ(machine.node_of(7), 1);
  EXPECT_EQ(machine.node_of(61), 2);
}

CASE("more ranks than cores share the cores evenly") {
  const auto machine = make_machine(parse_topology("node:1 core:4"), {10}, Binding::compact);
  std::vector<int> on_core(4, 0);
  for (int p = 0; p < 10; ++p) ++on_core[static_cast<std::size_t>(machine.unit_of(1, p))];
  for (const int ranks : on_core) EXPECT_TRUE((ranks == 2 || ranks == 3));
}

CASE("a description that makes no sense is refused with the reason") {
  EXPECT_ERROR(Error, "level 'flux' is unknown", parse_topology("node:2 flux:3"));
  EXPECT_ERROR(Error, "does not start with nodes", parse_topology("pack:2 core:3"));
  EXPECT_ERROR(Error, "twice", parse_topology("node:2 pack:2 socket:2"));
  EXPECT_ERROR(Error, "has no count", parse_topology("node:2 pack"));
  EXPECT_ERROR(Error, "at least 1", parse_topology("node:2 pack:0"));
  EXPECT_ERROR(Error, "at least 1", parse_topology("node:2x"));
  EXPECT_THROW(static_cast<void>(parse_topology("")), Error);
  EXPECT_ERROR(Error, "2 nodes of 3", make_machine(parse_topology("node:3"), {1, 2}));
  EXPECT_ERROR(Error, "node 1 has 0 ranks", make_machine(parse_topology("node:2"), {1, 0}));
  EXPECT_ERROR(
      Error, "straddles", Machine({"node", "pack", "core"}, {{4, {{0, 2, 4}, {0, 1, 3, 4}}}}, {0}));
}

CASE("what would overflow or be longer than announced is refused before it is made") {
  const auto refuses = [](const auto& work, const char* word) {
    try {
      work();
    } catch (const parhelion::Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      return;
    }
    FAIL() << word;
  };
  const std::vector<int> one{1};
  refuses([&] { make_machine(parse_topology("node:2147483647"), one); }, "at most 1048576");
  refuses([&] { make_machine(parse_topology("node:1048576 pack:2147483647"), one); },
      "at most 16777216");
  refuses(
      [&] {
        make_machine(parse_topology("node:1 pack:2147483647 core:2147483647 pu:2147483647"), one);
      },
      "at most 16777216");
  refuses([&] { make_machine(parse_topology("node:2"), {2147483647}); }, "at most 16777216");
  const Machine machine = make_machine(parse_topology("node:2 core:7"), {7});
  const std::int64_t cells = 1'000'000'000;
  refuses(
      [&] {
        choose_grid(machine, {cells, cells, cells}, faces(3), 1, 8, {false}, Objective::jsum);
      },
      "2^63 - 1");
  refuses([&] { with_halo_bytes(faces(3), {cells, cells, cells}, 1 << 30, 8); }, "2^63 - 1");
  refuses([&] { place({make_grid({14}), one_step(2147483647)}, machine); }, "1048576");
}

CASE("many nodes in a row neither exhaust the stack nor the memory") {
  // Slices of one node each: recursion depth was the number of nodes.
  const Machine machine = make_machine(parse_topology("node:60000"), {1});
  const auto placed =
      place({make_grid({60000}), faces(1), Objective::jsum, false, "guillotine"}, machine);
  EXPECT_EQ(placed.scores.front().edges_sum, 2 * 59999);
}

CASE("an offset that leads past the whole grid counts as few planes as there are") {
  const Machine machine = make_machine(parse_topology("node:2"), {8});
  const auto far = place(
      {make_grid({16}, {true}), one_step(1048575), Objective::jsum, false, "blocked"}, machine);
  const auto near =
      place({make_grid({16}, {true}), one_step(-1), Objective::jsum, false, "blocked"}, machine);
  EXPECT_EQ(far.scores, near.scores);
}

CASE("numberings name the fastest dimension first, and both directions agree") {
  const Coords extent{2, 3, 4, 1};
  EXPECT_EQ(Numbering(3).name(), "ZYX");
  EXPECT_EQ(Numbering::parse("XYZ", 3).rank(extent, {1, 0, 0, 0}), 1);
  EXPECT_EQ(Numbering::parse("ZYX", 3).rank(extent, {0, 0, 1, 0}), 1);
  for (const char* name : {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "1,2,0"}) {
    const auto numbering = Numbering::parse(name, 3);
    for (int rank = 0; rank < 24; ++rank)
      ASSERT_EQ(numbering.rank(extent, numbering.coords(extent, rank)), rank);
  }
  EXPECT_EQ(Numbering::parse("TXZY", 4).fastest_first(), (std::vector<int>{3, 0, 2, 1}));
  EXPECT_ERROR(Error, "does not name each", Numbering::parse("XYX", 3));
  EXPECT_THROW(static_cast<void>(Numbering::parse("XY", 3)), Error);
}

CASE("grids and offsets that make no sense are refused with the reason") {
  EXPECT_ERROR(Error, "0 dimensions", make_grid({}));
  EXPECT_ERROR(Error, "no point in dimension 1", make_grid({2, 0}));
  EXPECT_ERROR(Error, "more than 2^31", make_grid({65536, 65536}));
  EXPECT_ERROR(Error, "periodicity", make_grid({2, 2, 2}, {true, false}));
}

// Placement level by level, as published for hwcart.
#include "parhelion/core/error.hpp"
#include "parhelion/placement/placement.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;
using parhelion::Error;

namespace {

Machine epyc(int nodes, int ranks) {
  return make_machine(
      parse_topology("node:" + std::to_string(nodes) + " pack:2 numa:4 l3:4 core:4"), {ranks});
}

const std::map<std::string, std::vector<int>> published{{"core", {4, 1, 1}}, {"l3", {1, 2, 2}},
    {"numa", {1, 2, 2}}, {"socket", {1, 2, 1}}, {"node", {16, 8, 8}}};

}  // namespace

CASE("the published blocks for 1024 nodes give the published 64 x 64 x 32 grid") {
  const auto placement = place_by_hand(epyc(1024, 128), published, {true}, "XYZ");
  EXPECT_EQ(placement.grid().extent, (Coords{64, 64, 32, 1}));
  EXPECT_EQ(placement.point(1), (Coords{1, 0, 0, 0}));    // cores along x
  EXPECT_EQ(placement.point(4), (Coords{0, 1, 0, 0}));    // L3 caches along y
  EXPECT_EQ(placement.point(16), (Coords{0, 2, 0, 0}));   // NUMA domains along y
  EXPECT_EQ(placement.point(64), (Coords{0, 4, 0, 0}));   // sockets along y
  EXPECT_EQ(placement.point(128), (Coords{4, 0, 0, 0}));  // nodes along x
  for (int p = 0; p < placement.machine().size(); p += 37)
    ASSERT_EQ(placement.position(placement.point(p)), p);
}

CASE("levels that are not named are passed over, in whatever order blocks are given") {
  const auto placement = place_by_hand(epyc(2, 128), {{"core", {8, 4, 4}}, {"node", {1, 1, 2}}});
  EXPECT_EQ(placement.grid().extent, (Coords{8, 4, 8, 1}));
}

CASE("blocks that do not fit the machine are refused with the reason") {
  auto wrong = published;
  wrong["numa"] = {1, 2, 1};
  EXPECT_ERROR(Error, "has 64 ranks, but the blocks inside it hold 32",
      place_by_hand(epyc(1024, 128), wrong));
  wrong = published;
  wrong["node"] = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_ERROR(Error, "2^63 - 1", place_by_hand(epyc(1024, 128), wrong));
  wrong["node"] = {16, 8, 4};
  EXPECT_ERROR(Error, "hold 65536 ranks in all", place_by_hand(epyc(1024, 128), wrong));
  EXPECT_ERROR(Error, "level node are missing", place_by_hand(epyc(1, 128), {{"core", {8, 4, 4}}}));
  EXPECT_ERROR(Error, "for every level",
      place_by_hand(epyc(1, 128), {{"node", {1, 1}}, {"core", {8, 4, 4}}}));
  EXPECT_ERROR(Error, "does not have", place_by_hand(epyc(1, 128), {{"node", {1}}, {"l2", {128}}}));
  EXPECT_ERROR(Error, "unknown", place_by_hand(epyc(1, 128), {{"node", {1}}, {"gpu", {128}}}));
  EXPECT_ERROR(Error, "are the same",
      place_by_hand(epyc(1, 128), {{"node", {1}}, {"pack", {2}}, {"socket", {64}}}));
}

CASE("nodes with unequal ranks cannot be placed by hand, and the message names the node") {
  const auto machine = make_machine(parse_topology("node:2 core:8"), {8, 6});
  EXPECT_ERROR(
      Error, "on node 0 has 8 ranks", place_by_hand(machine, {{"node", {2}}, {"core", {7}}}));
}

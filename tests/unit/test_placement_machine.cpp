// Descriptions of machines, and which unit a rank is in.
#include <doctest/doctest.h>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/machine.hpp"
#include "parhelion/placement/placement.hpp"
#include "parhelion/placement/process_grid.hpp"
#include "parhelion/placement/stencil.hpp"

using namespace parhelion::placement;
using parhelion::Error;

TEST_CASE("64 ranks on 128 cores take every second core when spread, and the first 64 when compact") {
    const auto topology = parse_topology("node:27 pack:2 numa:4 l3:4 core:4");
    const auto spread = make_machine(topology, {64});
    CHECK(spread.size() == 27 * 64);
    CHECK(spread.unit_in_node(4, 1) == 2);
    CHECK(spread.unit_in_node(1, 32) == 1);
    CHECK(spread.unit_of(4, 64) == 128);
    const auto compact = make_machine(topology, {64}, Binding::compact);
    CHECK(compact.unit_in_node(4, 1) == 1);
    CHECK(compact.unit_in_node(1, 63) == 0);
}

TEST_CASE("every unit of a level is an interval of positions, nested in one unit around it") {
    const auto machine = make_machine(parse_topology("node:3 socket:2 l3:3 core:4"), {7, 24, 31});
    CHECK(machine.size() == 62);
    for (int level = 1; level < machine.levels(); ++level)
        for (int p = 1; p < machine.size(); ++p) {
            REQUIRE(machine.unit_of(level, p) >= machine.unit_of(level, p - 1));
            if (machine.unit_of(level, p) == machine.unit_of(level, p - 1))
                REQUIRE(machine.unit_of(level - 1, p) == machine.unit_of(level - 1, p - 1));
        }
    CHECK(machine.node_of(6) == 0);
    CHECK(machine.node_of(7) == 1);
    CHECK(machine.node_of(61) == 2);
}

TEST_CASE("more ranks than cores share the cores evenly") {
    const auto machine = make_machine(parse_topology("node:1 core:4"), {10}, Binding::compact);
    std::vector<int> on_core(4, 0);
    for (int p = 0; p < 10; ++p) ++on_core[static_cast<std::size_t>(machine.unit_of(1, p))];
    for (const int ranks : on_core) CHECK((ranks == 2 || ranks == 3));
}

TEST_CASE("a description that makes no sense is refused with the reason") {
    CHECK_THROWS_WITH_AS(parse_topology("node:2 flux:3"), doctest::Contains("level 'flux' is unknown"), Error);
    CHECK_THROWS_WITH_AS(parse_topology("pack:2 core:3"), doctest::Contains("does not start with nodes"), Error);
    CHECK_THROWS_WITH_AS(parse_topology("node:2 pack:2 socket:2"), doctest::Contains("twice"), Error);
    CHECK_THROWS_WITH_AS(parse_topology("node:2 pack"), doctest::Contains("has no count"), Error);
    CHECK_THROWS_WITH_AS(parse_topology("node:2 pack:0"), doctest::Contains("at least 1"), Error);
    CHECK_THROWS_WITH_AS(parse_topology("node:2x"), doctest::Contains("at least 1"), Error);
    CHECK_THROWS_AS(parse_topology(""), Error);
    CHECK_THROWS_WITH_AS(make_machine(parse_topology("node:3"), {1, 2}), doctest::Contains("2 nodes of 3"), Error);
    CHECK_THROWS_WITH_AS(make_machine(parse_topology("node:2"), {1, 0}), doctest::Contains("node 1 has 0 ranks"), Error);
    CHECK_THROWS_WITH_AS(Machine({"node", "pack", "core"}, {{4, {{0, 2, 4}, {0, 1, 3, 4}}}}, {0}),
                         doctest::Contains("straddles"), Error);
}

TEST_CASE("what would overflow or be longer than announced is refused before it is made") {
    const auto refuses = [](const auto& work, const char* word) {
        try {
            work();
        } catch (const parhelion::Error& error) {
            CHECK_MESSAGE(std::string(error.what()).find(word) != std::string::npos, error.what());
            return;
        }
        FAIL(word);
    };
    const std::vector<int> one{1};
    refuses([&] { make_machine(parse_topology("node:2147483647"), one); }, "at most 1048576");
    refuses([&] { make_machine(parse_topology("node:1048576 pack:2147483647"), one); }, "at most 16777216");
    refuses([&] { make_machine(parse_topology("node:1 pack:2147483647 core:2147483647 pu:2147483647"), one); }, "at most 16777216");
    refuses([&] { make_machine(parse_topology("node:2"), {2147483647}); }, "at most 16777216");
    const Machine machine = make_machine(parse_topology("node:2 core:7"), {7});
    const std::int64_t cells = 1'000'000'000;
    refuses([&] { choose_grid(machine, {cells, cells, cells}, faces(3), 1, 8, {false}, Objective::jsum); }, "2^63 - 1");
    refuses([&] { with_halo_bytes(faces(3), {cells, cells, cells}, 1 << 30, 8); }, "2^63 - 1");
    refuses([&] { place({make_grid({14}), parse_offsets("2147483647", 1)}, machine); }, "1048576");
}

TEST_CASE("many nodes in a row neither exhaust the stack nor the memory") {
    // Cut after cut a node wide: the search went as deep as there are nodes.
    const Machine machine = make_machine(parse_topology("node:60000"), {1});
    const auto placed = place({make_grid({60000}), faces(1), Objective::jsum, false, "guillotine"}, machine);
    CHECK(placed.scores.front().edges_sum == 2 * 59999);
}

TEST_CASE("an offset that leads past the whole grid counts as few planes as there are") {
    const Machine machine = make_machine(parse_topology("node:2"), {8});
    const auto far = place({make_grid({16}, {true}), parse_offsets("1048575", 1), Objective::jsum, false, "blocked"}, machine);
    const auto near = place({make_grid({16}, {true}), parse_offsets("-1", 1), Objective::jsum, false, "blocked"}, machine);
    CHECK(far.scores == near.scores);
}

TEST_CASE("numberings name the fastest dimension first, and both directions agree") {
    const Coords extent{2, 3, 4, 1};
    CHECK(Numbering(3).name() == "ZYX");
    CHECK(Numbering::parse("XYZ", 3).rank(extent, {1, 0, 0, 0}) == 1);
    CHECK(Numbering::parse("ZYX", 3).rank(extent, {0, 0, 1, 0}) == 1);
    for (const char* name : {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "1,2,0"}) {
        const auto numbering = Numbering::parse(name, 3);
        for (int rank = 0; rank < 24; ++rank) REQUIRE(numbering.rank(extent, numbering.coords(extent, rank)) == rank);
    }
    CHECK(Numbering::parse("TXZY", 4).fastest_first() == std::vector<int>{3, 0, 2, 1});
    CHECK_THROWS_WITH_AS(Numbering::parse("XYX", 3), doctest::Contains("does not name each"), Error);
    CHECK_THROWS_AS(Numbering::parse("XY", 3), Error);
}

TEST_CASE("grids and offsets that make no sense are refused with the reason") {
    CHECK_THROWS_WITH_AS(make_grid({}), doctest::Contains("0 dimensions"), Error);
    CHECK_THROWS_WITH_AS(make_grid({2, 0}), doctest::Contains("no point in dimension 1"), Error);
    CHECK_THROWS_WITH_AS(make_grid({65536, 65536}), doctest::Contains("more than 2^31"), Error);
    CHECK_THROWS_WITH_AS(make_grid({2, 2, 2}, {true, false}), doctest::Contains("periodicity"), Error);
    CHECK_THROWS_WITH_AS(parse_offsets("0,1;0", 2), doctest::Contains("has 1 steps"), Error);
    CHECK_THROWS_WITH_AS(parse_offsets("0,a", 2), doctest::Contains("not a whole number"), Error);
    CHECK_THROWS_WITH_AS(parse_offsets("0,0", 2), doctest::Contains("to the point itself"), Error);
    CHECK_THROWS_AS(parse_offsets("", 2), Error);
    CHECK(parse_offsets("0,1; 0,-1;+2,0", 2).offsets.size() == 3);
}

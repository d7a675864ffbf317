// Numbers that the C interface of placement is given are looked at before they are used.
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

struct Made {
    phl_machine* machine = nullptr;
    phl_placement* placement = nullptr;
    Made() {
        const int ranks = 4, grid[2] = {4, 2}, offsets[4] = {1, 0, 0, 1};
        EXPECT_EQ(phl_machine_create("node:2 core:4", 2, 1, &ranks, 0, &machine), 0);
        EXPECT_EQ(phl_place(machine, 2, grid, nullptr, 2, offsets, nullptr, 0, 0, "", &placement),
                  0);
    }
    ~Made() {
        phl_placement_free(placement);
        phl_machine_free(machine);
    }
};

}  // namespace

CASE("levels, positions and members that are not there give -1 or no text, and a message") {
    const Made made;
    for (const int number : absurd) {
        CAPTURE(number);
        EXPECT_EQ(phl_machine_units(made.machine, number), -1);
        told("level");
        EXPECT_EQ(phl_machine_level(made.machine, number), nullptr);
        EXPECT_EQ(phl_machine_unit(made.machine, number, 0), -1);
        EXPECT_EQ(phl_machine_unit(made.machine, 0, number), -1);
        told("position");
        EXPECT_EQ(phl_machine_unit_in_node(made.machine, 1, number), -1);
        EXPECT_EQ(phl_machine_unit_in_node(made.machine, number, 1), -1);
        if (number == -1) continue;  // the placement itself
        EXPECT_EQ(phl_placement_member_name(made.placement, number), nullptr);
        told("member");
        EXPECT_EQ(phl_placement_member_reason(made.placement, number), nullptr);
    }
    EXPECT_EQ(phl_machine_units(made.machine, 1), 8);
    EXPECT_EQ(std::string(phl_machine_level(made.machine, 1)), "core");
    EXPECT_EQ(phl_machine_unit(made.machine, 1, 7), 7);
    EXPECT_EQ(phl_machine_unit_in_node(made.machine, 1, 7), 3);
}

CASE("scores and units at levels that are not there are refused with a message") {
    const Made made;
    const int offsets[4] = {1, 0, 0, 1};
    std::array<std::int64_t, 4> score{};
    std::array<int, 8> units{};
    for (const int number : absurd) {
        CAPTURE(number);
        EXPECT_NE(phl_placement_score(made.placement, 2, offsets, nullptr, number, score.data()),
                  0);
        told("level");
        EXPECT_NE(phl_placement_units(made.placement, number, 0, units.data()), 0);
        EXPECT_NE(phl_placement_member_score(made.placement, -1, number, score.data()), 0);
        told("level");
        if (number != -1)
            EXPECT_NE(phl_placement_member_score(made.placement, number, 0, score.data()), 0);
    }
    EXPECT_EQ(phl_placement_units(made.placement, 1, 1, units.data()), 0);
    EXPECT_EQ(phl_placement_member_score(made.placement, -1, 0, score.data()), 0);
    phl_placement* by_hand = nullptr;
    const int blocks[4] = {2, 1, 2, 2};
    ASSERT_EQ(phl_place_by_hand(made.machine, 2, "node core", blocks, nullptr, "", &by_hand), 0);
    EXPECT_NE(phl_placement_member_score(by_hand, -1, 0, score.data()), 0);
    told("not scored");
    phl_placement_free(by_hand);
}

CASE("ranks and points outside of a numbering's grid are refused") {
    const int grid[2] = {3, 2}, outside[2] = {1, 2}, inside[2] = {2, 1};
    int rank = 0, point[2] = {0, 0};
    EXPECT_NE(phl_numbering_rank(2, grid, "", outside, &rank), 0);
    told("outside");
    EXPECT_EQ(phl_numbering_rank(2, grid, "", inside, &rank), 0);
    EXPECT_EQ(rank, 5);
    for (const int number : absurd) EXPECT_NE(phl_numbering_coords(2, grid, "", number, point), 0);
    told("rank");
}

CASE("between nodes without cells bytes are not known, and time cannot be predicted") {
    const Made made;
    const int grid[2] = {4, 2}, nodes[8] = {0, 0, 0, 0, 1, 1, 1, 1}, offsets[4] = {1, 0, 0, 1};
    const std::int64_t extent[2] = {3, 5};
    std::array<std::int64_t, 6> traffic{};
    int pairs = 0;
    ASSERT_EQ(phl_node_pairs(2, grid, nullptr, nodes, 2, offsets, nullptr, nullptr, 0, 0, 1, &pairs,
                             traffic.data()),
              0);
    EXPECT_EQ(pairs, 1);
    EXPECT_EQ(traffic, (std::array<std::int64_t, 6>{0, 1, 2, 2, 1, -1}));
    ASSERT_EQ(phl_node_pairs(2, grid, nullptr, nodes, 2, offsets, nullptr, extent, 1, 8, 1, &pairs,
                             traffic.data()),
              0);
    EXPECT_EQ(traffic, (std::array<std::int64_t, 6>{0, 1, 2, 2 * 5 * 8, 1, 2 * 5 * 8}));
    const double each[1] = {1e-6};
    const phl_exchange_costs costs{"node", each, each, 0, 0};
    phl_placement* placement = nullptr;
    EXPECT_NE(phl_place_by_time(made.machine, 2, grid, nullptr, 2, offsets, nullptr, 1, 8, &costs,
                                0, 1, "", &placement),
              0);
    told("which cells travel");
}

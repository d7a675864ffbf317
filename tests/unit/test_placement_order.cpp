// Orders of a box's points: both directions agree, whatever the tree.
#include <random>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/order.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

int distance(const Coords& a, const Coords& b) {
    int sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += std::abs(a[d] - b[d]);
    return sum;
}

bool both_ways(const Order& order) {
    for (int position = 0; position < order.size(); ++position)
        if (order.position(order.point(position)) != position) return false;
    return true;
}

Order random_order(std::mt19937& random, const Coords& box, int depth) {
    const auto at_most = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int d = at_most(3);
    if (depth == 0 || box[static_cast<std::size_t>(d)] == 1) return Order::path(box, {at_most(4)}, random() % 2 == 0);
    std::vector<Order::Part> parts;
    for (int left = box[static_cast<std::size_t>(d)]; left > 0;) {
        const int thickness = 1 + at_most(left), count = 1 + at_most(left / thickness);
        Coords slab = box;
        slab[static_cast<std::size_t>(d)] = thickness;
        parts.push_back({count, random_order(random, slab, depth - 1), static_cast<Order::Mirror>(random() % 8),
                         static_cast<Order::Mirror>(random() % 8)});
        left -= count * thickness;
    }
    return Order::slabs(d, parts);
}

}  // namespace

CASE("a path to and fro visits a neighbor at every step") {
    const Order order = Order::path({4, 3, 5, 2}, {2, 0}, true);
    EXPECT_TRUE(both_ways(order));
    for (int position = 1; position < order.size(); ++position) EXPECT_EQ(distance(order.point(position - 1), order.point(position)), 1);
}

CASE("a straight path with the last dimension fastest is the order of MPI_Cart") {
    const Order order = Order::path({2, 3, 4, 1}, {}, false);
    EXPECT_EQ(order.position({1, 2, 3, 0}), 23);
    EXPECT_EQ(order.position({1, 0, 2, 0}), 14);
    EXPECT_EQ(order.point(5), (Coords{0, 1, 1, 0}));
}

CASE("random trees with mirrored slabs are bijections and survive packing") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto side = [&] { return 1 + static_cast<int>(random() % 7); };
        const Order order = random_order(random, {side(), side(), side(), 1}, 3);
        ASSERT_TRUE(both_ways(order));
        const Order copy = Order::unpack(order.pack());
        for (int position = 0; position < order.size(); ++position) ASSERT_EQ(copy.point(position), order.point(position));
    }
}

CASE("a tree of equal slabs stays small however large the grid") {
    Order order = Order::path({4, 4, 4, 1}, {}, true);
    for (int d : {2, 1, 0}) order = Order::slabs(d, {{100, order}});
    EXPECT_EQ(order.size(), 64'000'000);
    EXPECT_EQ(order.vertices(), 4);
    EXPECT_EQ(order.position(order.point(12'345'678)), 12'345'678);
}

CASE("a packed order that was cut off is refused") {
    auto words = Order::path({4, 4, 1, 1}, {}, true).pack();
    words.pop_back();
    EXPECT_THROW(static_cast<void>(Order::unpack(words)), parhelion::Error);
    EXPECT_THROW(static_cast<void>(Order::unpack(std::vector<std::int32_t>{})), parhelion::Error);
}

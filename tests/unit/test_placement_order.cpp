// Orders of a box's points, building blocks of placement methods.
#include <algorithm>
#include <random>

#include "placement/methods/methods.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

// The points in this order; empty if two points have the same position.
std::vector<Coords> points_of(const Coords& box, const Order& order) {
  std::vector<Coords> points(order.size(), Coords{-1});
  for (std::size_t p = 0; p < order.size(); ++p)
    points.at(static_cast<std::size_t>(order[p])) = point_of(box, static_cast<int>(p));
  return std::ranges::count(points, Coords{-1}) == 0 ? points : std::vector<Coords>{};
}

int distance(const Coords& a, const Coords& b) {
  int sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += std::abs(a[d] - b[d]);
  return sum;
}

}  // namespace

CASE("a path to and fro visits a neighbor at every step") {
  const Coords box{4, 3, 5, 2};
  const auto points = points_of(box, path(box, {2, 0}, true));
  ASSERT_EQ(points.size(), 120);
  for (std::size_t place = 1; place < points.size(); ++place)
    EXPECT_EQ(distance(points[place - 1], points[place]), 1);
}

CASE("a straight path with the last dimension fastest is the order of MPI_Cart") {
  const Coords box{2, 3, 4, 1};
  const auto order = path(box, {}, false);
  for (int p = 0; p < volume(box); ++p) ASSERT_EQ(order[static_cast<std::size_t>(p)], p);
}

CASE("slabs follow each other along their dimension, mirrored ones backwards") {
  std::mt19937 random(1);
  for (int attempt = 0; attempt < 200; ++attempt) {
    CAPTURE(attempt);
    const auto side = [&] { return 1 + static_cast<int>(random() % 5); };
    const int d = static_cast<int>(random() % 4);
    Coords box{side(), side(), side(), side()}, part = box;
    const int thickness = part[static_cast<std::size_t>(d)];
    const auto mirror = static_cast<unsigned>(random() % 16);
    box[static_cast<std::size_t>(d)] = 2 * thickness;
    const Order inside = path(part, {side() % 4}, random() % 2 == 0);
    const auto points =
        points_of(box, slab_after_slab(box, d, {{thickness, inside}, {thickness, inside, mirror}}));
    const auto once = points_of(part, inside);
    ASSERT_EQ(points.size(), 2 * once.size());
    for (std::size_t place = 0; place < once.size(); ++place) {
      ASSERT_EQ(points[place], once[place]);
      Coords there = once[place];
      for (std::size_t j = 0; j < 4; ++j)
        if (mirror >> j & 1) there[j] = part[j] - 1 - there[j];
      there[static_cast<std::size_t>(d)] += thickness;
      ASSERT_EQ(points[once.size() + place], there);
    }
  }
}

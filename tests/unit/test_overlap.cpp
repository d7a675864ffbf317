// Overlap of cells in memory, compared with all addresses.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support/cases.hpp"

#include "plan/overlap.hpp"

using namespace parhelion;

namespace {

// Every byte of every point, with repetitions.
std::vector<byte_count> bytes_of(const Footprint& cells) {
  std::vector<byte_count> bytes;
  const std::function<void(int, byte_count)> visit = [&](int d, byte_count at) {
    if (d == cells.dims) {
      for (byte_count b = 0; b < cells.width; ++b) bytes.push_back(at + b);
      return;
    }
    const auto k = static_cast<std::size_t>(d);
    for (byte_count i = 0; i < cells.count[k]; ++i) visit(d + 1, at + i * cells.stride[k]);
  };
  visit(0, cells.first);
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

bool overlap_by_hand(const Footprint& a, const Footprint& b) {
  const auto some = bytes_of(a), others = bytes_of(b);
  std::vector<byte_count> both;
  std::set_intersection(
      some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(both));
  return !both.empty();
}

bool overlaps_itself_by_hand(const Footprint& cells) {
  const auto bytes = bytes_of(cells);
  return std::adjacent_find(bytes.begin(), bytes.end()) != bytes.end();
}

std::string shown(const Footprint& cells) {
  std::string text = std::to_string(cells.first) + " + [0, " + std::to_string(cells.width) + ")";
  for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dims); ++d)
    text +=
        " + " + std::to_string(cells.stride[d]) + "·[0, " + std::to_string(cells.count[d]) + ")";
  return text;
}

using Random = std::mt19937;
int draw(Random& random, int lowest, int highest) {
  return std::uniform_int_distribution<int>(lowest, highest)(random);
}

// Arbitrary strides, negative and zero included.
Footprint any_box(Random& random) {
  Footprint cells{draw(random, 0, 60), draw(random, 1, 4), draw(random, 0, 5), {}, {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dims); ++d) {
    cells.count[d] = draw(random, draw(random, 0, 9) == 0 ? 0 : 1, 4);
    cells.stride[d] = draw(random, -30, 30);
  }
  return cells;
}

// A strided part of an array, as a view has it.
Footprint part_of_array(
    Random& random, const std::vector<int>& extents, const std::vector<byte_count>& strides) {
  Footprint cells{0, draw(random, 1, 2), static_cast<int>(extents.size()), {}, {}};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const int first = draw(random, 0, extents[d] - 1), step = draw(random, 1, 3);
    cells.first += first * strides[d];
    cells.count[d] = draw(random, 1, (extents[d] - first + step - 1) / step);
    cells.stride[d] = step * strides[d];
    if (draw(random, 0, 3) > 0) continue;
    cells.first += (cells.count[d] - 1) * cells.stride[d];
    cells.stride[d] = -cells.stride[d];
  }
  return cells;
}

}  // namespace

CASE("two sets of cells overlap exactly if they have a byte in common, whatever their strides") {
  Random random(1);
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const Footprint a = any_box(random), b = any_box(random);
    CAPTURE(shown(a));
    CAPTURE(shown(b));
    const bool expected = overlap_by_hand(a, b);
    overlapping += expected;
    ASSERT_EQ(overlap(a, b), expected);
    ASSERT_EQ(overlap(b, a), expected);
    ASSERT_EQ(overlaps_itself(a), overlaps_itself_by_hand(a));
  }
  EXPECT_GT(overlapping, 2000);
  EXPECT_LT(overlapping, 18000);
}

CASE("parts of one array overlap exactly if they have a byte in common") {
  Random random(2);
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::vector<int> extents{
        draw(random, 1, 5), draw(random, 1, 5), draw(random, 1, 6), draw(random, 1, 4)};
    std::vector<byte_count> strides(4, 2);
    for (int d = 2; d >= 0; --d)
      strides[static_cast<std::size_t>(d)] =
          strides[static_cast<std::size_t>(d) + 1] * extents[static_cast<std::size_t>(d) + 1];
    const Footprint a = part_of_array(random, extents, strides),
                    b = part_of_array(random, extents, strides);
    CAPTURE(shown(a));
    CAPTURE(shown(b));
    const bool expected = overlap_by_hand(a, b);
    overlapping += expected;
    ASSERT_EQ(overlap(a, b), expected);
    ASSERT_FALSE(overlaps_itself(a));
  }
  EXPECT_GT(overlapping, 2000);
  EXPECT_LT(overlapping, 18000);
}

CASE("large arrays whose components take turns are told apart, and from themselves turned over") {
  constexpr byte_count n = 500, cell = 24;
  const auto component = [&](byte_count c) {
    return Footprint{4096 + 8 * c, 8, 3, {n, n, n}, {n * n * cell, n * cell, cell}};
  };
  EXPECT_FALSE(overlap(component(0), component(1)));
  EXPECT_FALSE(overlap(component(2), component(0)));
  EXPECT_TRUE(overlap(component(1), component(1)));
  Footprint turned = component(0);
  std::swap(turned.stride[0], turned.stride[2]);
  EXPECT_TRUE(overlap(component(0), turned));
  EXPECT_FALSE(overlap(component(1), turned));
  EXPECT_FALSE(overlaps_itself(component(0)));
  turned.stride[1] = 0;
  EXPECT_TRUE(overlaps_itself(turned));
}

CASE("nothing overlaps with nothing") {
  const Footprint some{100, 8, 1, {10}, {8}}, none{100, 8, 1, {0}, {8}};
  EXPECT_FALSE(overlap(some, none));
  EXPECT_FALSE(overlap(none, none));
  EXPECT_FALSE(overlaps_itself(none));
}

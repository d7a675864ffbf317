// Land masks: cell counts of boxes, and numbers of wet cells.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "parhelion/core/error.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "support/cells.hpp"

namespace parhelion {
namespace {

Box random_box(std::mt19937& random, const std::vector<global_index>& extents) {
  Box box;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    box.lo[d] = std::uniform_int_distribution<global_index>(0, extents[d])(random);
    box.hi[d] = std::uniform_int_distribution<global_index>(box.lo[d], extents[d])(random);
  }
  return box;
}

TEST(test_mask, ABoxIsWetWhereOneOfItsCellsIs) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<global_index> extents(1 + trial % 4);
    for (auto& extent : extents) extent = 1 + static_cast<global_index>(random() % 9);
    auto own = extents;
    for (auto& along : own)
      if (random() % 4 == 0) along = 1;
    const auto seed = random();
    const auto is_wet = [&](const Coordinates& at) {
      std::size_t hash = seed;
      for (std::size_t d = 0; d < own.size(); ++d)
        hash = hash * 31 + static_cast<std::size_t>(own[d] == 1 ? 0 : at[d]);
      return std::mt19937(static_cast<unsigned>(hash))() % 20 == 0;
    };
    const Mask mask = mask_of(extents, own, is_wet);
    for (int question = 0; question < 50; ++question) {
      const Box box = random_box(random, extents);
      bool wet = false;
      test::for_each_cell(box, [&](const Coordinates& at) { wet = wet || is_wet(at); });
      EXPECT_EQ(mask(box), wet) << to_string(box, static_cast<int>(extents.size()));
    }
  }
}

TEST(test_mask, OtherExtentsThanThoseOfTheGridAreRefused) {
  const auto wet = [](const Coordinates&) { return true; };
  for (const auto& own : {std::vector<global_index>{4}, {4, 3}, {2, 5}, {4, 5, 1}})
    EXPECT_THROW(mask_of({4, 5}, own, wet)(Box()), Error);
  EXPECT_TRUE(mask_of({4, 5}, {1, 5}, wet)(Box()));
}

TEST(test_mask, WetPlacesAreNumberedAsRanksFillTheGrid) {
  std::mt19937 random(2);
  const std::vector<global_index> extents{23, 17};
  Cuts cuts(2);
  for (std::size_t d = 0; d < 2; ++d) {
    cuts[d].resize(static_cast<std::size_t>(extents[d]) + 1);
    std::iota(cuts[d].begin(), cuts[d].end(), 0);
  }
  for (const unsigned share : {1u, 2u, 50u}) {
    std::vector<bool> wet(23 * 17);
    for (std::size_t i = 0; i < wet.size(); ++i) wet[i] = random() % share == 0;
    const Mask mask = mask_of(extents, extents,
        [&](const Coordinates& at) { return wet[static_cast<std::size_t>(at[0] * 17 + at[1])]; });
    for (const RankFill fill : {RankFill::last_fastest, RankFill::first_fastest}) {
      const WetPlaces places(cuts, fill, mask), same(places.words());
      int rank = 0;
      for (int place = 0; place < 23 * 17; ++place) {
        const int at = fill == RankFill::last_fastest ? place : place % 23 * 17 + place / 23;
        const bool is_wet = wet[static_cast<std::size_t>(at)];
        EXPECT_EQ(same.rank_of(place), is_wet ? rank : -1);
        if (is_wet) EXPECT_EQ(same.place_of(rank++), place);
      }
      EXPECT_EQ(places.count(), rank);
    }
  }
}

TEST(test_mask, WetPlacesOfAChosenGridAreAsManyAsRanks) {
  const std::vector<global_index> extents{90, 120};
  const Mask mask = mask_of(extents, extents, [](const Coordinates& at) {
    const auto x = at[0] - 45, y = at[1] - 50;
    return x * x + y * y < 1600;
  });
  for (int ranks = 1; ranks <= 100; ranks += 9) {
    const auto grids = grids_with_land(ranks, extents, 1, mask);
    const auto fits = [&](const GridWithLand& each) { return each.ranks == ranks; };
    const auto found = std::ranges::find_if(grids, fits);
    if (found == grids.end()) {
      EXPECT_THROW(choose_process_grid(ranks, extents, 1, mask), Error);
      continue;
    }
    EXPECT_EQ(choose_process_grid(ranks, extents, 1, mask), found->grid);
    EXPECT_LE(ranks, found->grid[0] * found->grid[1]);
  }
  EXPECT_THROW(grids_with_land(0, extents, 1, mask), Error);
  EXPECT_THROW(grids_with_land(2, extents, 1, [](const Box&) { return false; }), Error);
}

}  // namespace
}  // namespace parhelion

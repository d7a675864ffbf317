// Random migrations of rows, compared with a model of all ranks' sends.
#include "parhelion/parhelion.hpp"
#include "support/cases.hpp"
#include "support/random.hpp"
#include "support/world.hpp"

using namespace test;
using namespace parhelion;

namespace {

struct Particle {
  double x[3];
  std::int32_t kind;
  bool operator==(const Particle&) const = default;
};

// Rows that a rank sends in a step; the id encodes sender, step and row.
struct Sent {
  std::vector<int> ranks;
  std::vector<std::int64_t> ids;

  Sent(Random& random, int sender, int step) {
    const int most = random.chance(20) ? 0 : random.pick<int>({1, 5, 40, 700});
    const int rows = random.between(0, most), near = random.between(0, ranks_of_all() - 1);
    const bool stay = random.chance(50);
    for (int row = 0; row < rows; ++row) {
      const bool anywhere = random.chance(stay ? 10 : 60);
      ranks.push_back(anywhere ? random.between(-1, ranks_of_all() - 1) : stay ? sender : near);
      ids.push_back((std::int64_t{sender} * 100 + step) * 1000 + row);
    }
  }
  static int ranks_of_all() { return ::ranks(); }
};

Particle particle_of(std::int64_t id) {
  const auto x = static_cast<double>(id);
  return {{x, -x, x / 4}, static_cast<std::int32_t>(id % 97)};
}

template <class T>
CellValues strided(std::vector<T>& values, int components, int stride) {
  CellValues made(values, components);
  made.owned.stride = static_cast<byte_count>(sizeof(T)) * stride;
  made.elements = CellValues::untold;
  return made;
}

}  // namespace

CASE("random rows arrive where they were sent, by sender and in its order, whatever their arrays") {
  for_random_cases(100, [](Random& random) {
    Migration migrate(MPI_COMM_WORLD);
    for (int step = 0; step < 3; ++step) {
      std::vector<std::int64_t> expected;
      std::vector<int> senders;
      std::vector<Sent> all;
      for (int sender = 0; sender < ranks(); ++sender) {
        const Sent& sent = all.emplace_back(random, sender, step);
        for (std::size_t row = 0; row < sent.ids.size(); ++row)
          if (sent.ranks[row] == rank())
            expected.push_back(sent.ids[row]), senders.push_back(sender);
      }
      const Sent& mine = all[static_cast<std::size_t>(rank())];
      // Rows of three components, of which two move; spare rows; empty rows.
      std::vector<std::int64_t> ids = mine.ids;
      std::vector<Particle> particles;
      std::vector<float> pairs(3 * ids.size());
      for (std::size_t row = 0; row < ids.size(); ++row) {
        particles.push_back(particle_of(ids[row]));
        pairs[3 * row] = static_cast<float>(ids[row] % 1000);
        pairs[3 * row + 1] = static_cast<float>(row);
      }
      if (random.chance(50)) ids.push_back(-1), particles.emplace_back();
      const auto count = static_cast<std::size_t>(
          migrate.send(mine.ranks, {ids, particles, strided(pairs, 2, 3)}));
      ASSERT_EQ(count, expected.size());
      ids.resize(count), particles.resize(count), pairs.assign(3 * count, -7);
      migrate.receive({ids, particles, strided(pairs, 2, 3)});
      EXPECT_EQ(ids, expected);
      EXPECT_EQ(migrate.sources(), senders);
      for (std::size_t row = 0; row < count; ++row) {
        EXPECT_EQ(particles[row], particle_of(expected[row]));
        EXPECT_EQ(pairs[3 * row], static_cast<float>(expected[row] % 1000));
        EXPECT_EQ(pairs[3 * row + 2], -7);
      }
    }
  });
}

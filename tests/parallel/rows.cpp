// Rows of values per cell over pulled and pushed index maps: fixed size, padded, ragged.
#include <array>
#include <functional>

#include "parhelion/core/error.hpp"
#include "support/cases.hpp"
#include "support/world.hpp"

using namespace parhelion;

namespace {

using Matrix = std::array<std::array<double, 2>, 2>;
struct Particle {
  std::int64_t id;
  float charge;
  friend bool operator==(const Particle&, const Particle&) = default;
};

constexpr local_index block = 5;

global_index wrapped(global_index id) { return (id + block * ranks()) % (block * ranks()); }

// Ghosts: the last row of the previous rank (twice), the first of the next, and an owned row.
IndexMap ring() {
  const global_index first = block * rank();
  return IndexMap::pull(
      block, {wrapped(first - 1), wrapped(first + block), wrapped(first - 1), first + 2});
}

// The same ghosts from the sender's side: the first row goes left, the last one right twice, and
// one to this rank.
IndexMap pushed() {
  const int left = (rank() + ranks() - 1) % ranks(), right = (rank() + 1) % ranks();
  return IndexMap::push(block, std::array<local_index, 4>{0, block - 1, block - 1, 2},
      std::array<int, 4>{left, right, right, rank()});
}

std::vector<IndexMap> maps() { return {ring(), pushed()}; }

Matrix matrix_of(global_index id) {
  const auto x = static_cast<double>(id);
  return {{{x, x + 0.25}, {x + 0.5, x + 0.75}}};
}
Particle particle_of(global_index id) { return {id * 3, static_cast<float>(id) / 2}; }
global_index entries_of(global_index id) { return id % 4; }

// Values of all rows; with_ghosts = false sets ghosts to the value of row 0.
template <class Value>
auto rows_of(const IndexMap& map, Value&& value, bool with_ghosts) {
  std::vector<decltype(value(0))> rows;
  for (local_index row = 0; row < map.size(); ++row)
    rows.push_back(value(row < map.owned() || with_ghosts ? map.domain().global_of(row) : 0));
  return rows;
}

std::vector<global_index> counts_of(const IndexMap& map) { return rows_of(map, entries_of, true); }

IndexMap entries_map(const IndexMap& rows) {
  std::vector<global_index> counts = counts_of(rows);
  counts.resize(static_cast<std::size_t>(rows.owned()));
  return IndexMap(ragged_domain(rows, counts));
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

CASE("a pushed map has the ghosts that were pushed, in the order of the ranks that pushed them") {
  const IndexMap map = pushed();
  ASSERT_EQ(map.ghosts(), 4);
  std::vector<global_index> expected;
  for (int sender = 0; sender < ranks(); ++sender) {
    const auto first = global_index{block} * sender;
    if ((sender + ranks() - 1) % ranks() == rank()) expected.push_back(first);
    if ((sender + 1) % ranks() == rank()) expected.insert(expected.end(), 2, first + block - 1);
    if (sender == rank()) expected.push_back(first + 2);
  }
  EXPECT_EQ(
      std::vector<global_index>(map.domain().ghost_ids().begin(), map.domain().ghost_ids().end()),
      expected);
}

CASE("rows of matrices and structures hold their owners' values") {
  for (const IndexMap& map : maps()) {
    auto matrices = rows_of(map, matrix_of, false);
    auto particles = rows_of(map, particle_of, false);
    map.forward({matrices, particles});
    EXPECT_EQ(matrices, rows_of(map, matrix_of, true));
    EXPECT_EQ(particles, rows_of(map, particle_of, true));
  }
}

CASE("ragged rows travel with the rows of another array, in its messages") {
  for (const IndexMap& map : maps()) {
    const IndexMap entries = entries_map(map);
    auto matrices = rows_of(map, matrix_of, false);
    std::vector<global_index> expected;
    for (const global_index id : rows_of(map, [](global_index id) { return id; }, true))
      for (global_index k = 0; k < entries_of(id); ++k) expected.push_back(1000 * id + k);
    ASSERT_EQ(static_cast<std::size_t>(entries.size()), expected.size());
    std::vector<global_index> values = expected;
    std::fill(values.begin() + entries.owned(), values.end(), -1);
    Exchange exchange({{map.pattern(), {view(map.domain(), matrices.data())}},
        {entries.pattern(), {view(entries.domain(), values.data())}}});
    exchange();
    EXPECT_EQ(values, expected);
    EXPECT_EQ(matrices, rows_of(map, matrix_of, true));
    EXPECT_LE(exchange.plan().messages_sent(Direction::forward), std::min(ranks() - 1, 2));
  }
}

CASE("contributions of every ghost arrive at its owner, in rows of any size") {
  for (const IndexMap& map : maps()) {
    const IndexMap entries = entries_map(map);
    std::vector<std::array<int, 2>> fixed(static_cast<std::size_t>(map.size()));
    std::vector<int> ragged(static_cast<std::size_t>(entries.size()));
    std::fill(fixed.begin() + map.owned(), fixed.end(), std::array<int, 2>{1, 1});
    std::fill(ragged.begin() + entries.owned(), ragged.end(), 1);
    map.reverse({fixed}, Reduction::sum);
    entries.reverse({ragged}, Reduction::sum);
    const std::array<int, block> expected{1, 0, 1, 0, 2};  // number of ghosts of each row
    const std::vector<global_index> counts = counts_of(map);
    auto entry = ragged.begin();
    for (std::size_t row = 0; row < block; ++row) {
      for (const int x : fixed[row]) EXPECT_EQ(x, expected[row]);
      for (global_index k = 0; k < counts[row]; ++k) EXPECT_EQ(*entry++, expected[row]);
    }
  }
}

CASE("a mistake of one rank is thrown by every rank") {
  const bool last = rank() == ranks() - 1;
  const std::vector<local_index> row{last ? block : 0};
  const std::vector<int> to{0};
  EXPECT_NE(refusal([&] { IndexMap::push(block, row, to); }).find("not owned"), std::string::npos);
  std::vector<global_index> counts(block, last ? -1 : 1);
  EXPECT_NE(
      refusal([&] { ragged_domain(ring(), counts); }).find("pass 0 or more"), std::string::npos);
}

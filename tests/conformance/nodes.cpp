// Traffic of node_aware between nodes: the reported number of messages, and one copy of each cell
// per destination node.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "parhelion/placement/between_nodes.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"

using namespace test;

namespace {

const Communicator& world() {
  static const Communicator comm(MPI_COMM_WORLD);
  return comm;
}

std::vector<std::int64_t> of_all_ranks(
    const std::vector<std::int64_t>& mine, std::vector<int>& counts) {
  const int count = static_cast<int>(mine.size());
  counts.resize(static_cast<std::size_t>(world().size()));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> begins(counts.size(), 0);
  for (std::size_t r = 1; r < counts.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<std::int64_t> all(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), begins.data(),
      MPI_INT64_T, MPI_COMM_WORLD);
  return all;
}

constexpr std::int64_t owner_unit = std::int64_t{1} << 32;

// The lowest rank of every rank's node.
std::vector<int> nodes_of_ranks() {
  std::vector<int> nodes(static_cast<std::size_t>(world().size()));
  int node = world().rank();
  MPI_Bcast(&node, 1, MPI_INT, 0, world().node().handle());
  MPI_Allgather(&node, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return nodes;
}

// Traffic computed without the library's patterns: each value encodes its owner, and all ranks
// gather the values that each holds after an exchange.
std::vector<NodeTraffic> counted(const std::vector<std::int64_t>& held) {
  std::vector<int> counts;
  const std::vector<std::int64_t> all = of_all_ranks(held, counts);
  const std::vector<int> nodes = nodes_of_ranks();
  const int node = nodes[static_cast<std::size_t>(world().rank())];
  std::map<int, std::set<std::int64_t>> needed;
  std::map<int, std::set<std::tuple<int, int, std::int64_t>>> by_pair;
  std::map<int, std::set<std::pair<int, int>>> pairs;
  std::set<int> others;
  std::size_t at = 0;
  for (int reader = 0; reader < world().size(); ++reader)
    for (int i = 0; i < counts[static_cast<std::size_t>(reader)]; ++i) {
      const std::int64_t value = all[at++];
      const int owner = static_cast<int>(value / owner_unit),
                there = nodes[static_cast<std::size_t>(reader)];
      const int from = nodes[static_cast<std::size_t>(owner)];
      if (there == from) continue;
      if (there == node) others.insert(from);
      if (from != node) continue;
      others.insert(there);
      needed[there].insert(value);
      by_pair[there].emplace(owner, reader, value);
      pairs[there].emplace(owner, reader);
    }
  std::vector<NodeTraffic> traffic;
  for (const int there : others) {
    NodeTraffic& to = traffic.emplace_back();
    to.node = there;
    to.pairs = static_cast<std::int64_t>(pairs[there].size());
    to.bytes_in_pairs = static_cast<byte_count>(by_pair[there].size() * sizeof(std::int64_t));
    to.messages = needed[there].empty() ? 0 : 1;
    to.bytes = static_cast<byte_count>(needed[there].size() * sizeof(std::int64_t));
  }
  return traffic;
}

void check_traffic(const Exchange& exchange, const std::vector<std::int64_t>& held) {
  const std::vector<NodeTraffic> expected = counted(held), told = exchange.node_traffic();
  const bool several = std::getenv("PARHELION_NODE_MESSAGES") != nullptr;
  EXPECT_EQ(told.size(), expected.size());
  for (std::size_t i = 0; i < std::min(told.size(), expected.size()); ++i) {
    EXPECT_EQ(told[i].node, expected[i].node);
    EXPECT_EQ(told[i].pairs, expected[i].pairs);
    EXPECT_GE(told[i].bytes_in_pairs,
        expected[i].bytes_in_pairs);  // boxes of a pair of ranks may overlap
    EXPECT_EQ(told[i].bytes, expected[i].bytes);
    EXPECT_GE(told[i].messages, expected[i].messages);
    if (!several) EXPECT_EQ(told[i].messages, expected[i].messages);
  }
}

}  // namespace

CASE("between nodes of a grid as many messages go as are announced, and each cell once") {
  for_random_cases(affordable(40), [](Random& random) {
    const CartesianDomain domain = random_domain(random);
    if (domain.algorithm() == Algorithm::by_dimension) return;  // ranks forward received values
    auto array = make_array<std::int64_t>(domain);
    std::vector<std::vector<std::int64_t>> before;
    std::int64_t next = world().rank() * owner_unit;
    for (std::size_t b = 0; b < domain.blocks().size(); ++b) {
      std::int64_t cells = 1;
      for (const global_index extent : array_extents(domain, {}, static_cast<int>(b)))
        cells *= extent;
      std::int64_t* const data = array.data(static_cast<int>(b));
      for (std::int64_t i = 0; i < cells; ++i) data[i] = next++;
      before.emplace_back(data, data + cells);
    }
    Exchange exchange(domain, {view(array)}, {.transport = "node_aware"});
    exchange();
    std::vector<std::int64_t> held;
    for (std::size_t b = 0; b < before.size(); ++b)
      for (std::size_t i = 0; i < before[b].size(); ++i)
        if (const std::int64_t value = array.data(static_cast<int>(b))[i]; value != before[b][i])
          held.push_back(value);
    check_traffic(exchange, held);
  });
}

CASE("between nodes of a mesh as many messages go as are announced, and each cell once") {
  for_random_cases(affordable(40), [](Random& random) {
    const RandomMesh each = random_mesh(random);
    const IndexedDomain domain = each.domain();
    std::vector<std::int64_t> values(static_cast<std::size_t>(domain.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = world().rank() * owner_unit + static_cast<std::int64_t>(i);
    const std::vector<std::int64_t> before = values;
    Exchange exchange(
        build_pattern(domain), {view(domain, values.data())}, {.transport = "node_aware"});
    exchange();
    std::vector<std::int64_t> held;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != before[i]) held.push_back(values[i]);
    check_traffic(exchange, held);
  });
}

CASE("placement counts what goes between nodes as an exchange announces it") {
  for_random_cases(affordable(40), [](Random& random) {
    std::vector<int> grid(static_cast<std::size_t>(random.between(1, 3)), 1);
    for (int left = world().size(), factor = 2; left > 1;) {
      if (left % factor == 0)
        grid[static_cast<std::size_t>(random.between(0, static_cast<int>(grid.size()) - 1))] *=
            factor,
            left /= factor;
      else ++factor;
    }
    const int halo = random.between(1, 2);
    const bool all_around = random.chance(50);
    std::vector<global_index> extent, cells;
    std::vector<bool> periodic;
    Periodicity wraps;
    bool is_wide = true;  // no pair of ranks is adjacent in two directions
    for (const int ranks : grid) {
      extent.push_back(random.between(halo, random.chance(70) ? halo + 1 : 100));
      cells.push_back(extent.back() * ranks);
      wraps.along[periodic.size()] = random.chance(50);
      periodic.push_back(wraps.along[periodic.size()]);
      is_wide = is_wide && (ranks > 2 || !periodic.back());
    }
    const auto dimensions = static_cast<int>(grid.size());
    const CartesianDomain domain(
        cells, {.halo = halo,
                   .periodic = wraps,
                   .process_grid = grid,
                   .neighbors = all_around ? Neighbors::full : Neighbors::faces});
    auto array = make_array<double>(domain);
    const Exchange exchange(domain, {view(array)}, {.transport = "node_aware"});
    const std::vector<int> nodes = nodes_of_ranks();
    auto pairs = placement::node_pairs(placement::make_grid(grid, periodic),
        placement::with_halo_bytes(
            all_around ? placement::full(dimensions) : placement::faces(dimensions), extent, halo,
            sizeof(double)),
        nodes);
    std::erase_if(pairs, [&](const auto& pair) {
      return pair.from != nodes[static_cast<std::size_t>(world().rank())];
    });
    const std::vector<NodeTraffic> told = exchange.node_traffic();
    ASSERT_EQ(pairs.size(), told.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(pairs[i].to, told[i].node);
      EXPECT_EQ(pairs[i].pairs, told[i].pairs);
      EXPECT_GE(pairs[i].bytes_in_pairs,
          told[i].bytes_in_pairs);  // one copy may serve two directions to a rank
      if (is_wide) EXPECT_EQ(pairs[i].bytes_in_pairs, told[i].bytes_in_pairs);
      EXPECT_EQ(pairs[i].messages, told[i].messages);
      EXPECT_EQ(pairs[i].bytes, told[i].bytes);
    }
  });
}

CASE("a short message arrives beside a long one that travels in pieces the other way") {
  constexpr global_index cells = 10000;  // 80 KB from rank 1 to 0, 40 KB back
  const int rank = world().rank();
  const char* const told = std::getenv("PARHELION_NODE_RANKS");
  const std::string before = told != nullptr ? told : "";
  setenv("PARHELION_NODE_RANKS", "1", 1);
  MPI_Comm apart = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  std::vector<global_index> ghosts;
  const global_index wanted = rank == 0 ? cells : rank == 1 ? cells / 2 : 0;
  for (global_index k = 0; k < wanted && world().size() > 1; ++k)
    ghosts.push_back((1 - rank) * cells + k * 7 % cells);
  {
    const IndexMap map(IndexedDomain(cells, ghosts, apart), {.transport = "mpi", .timeout_s = 20});
    std::vector<double> values(static_cast<std::size_t>(map.size()), -1);
    for (global_index k = 0; k < cells; ++k) values[k] = static_cast<double>(rank * cells + k);
    map.forward({CellValues(values)});
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      ASSERT_EQ(values[cells + k], static_cast<double>(ghosts[k]));
  }
  MPI_Comm_free(&apart);
  told != nullptr ? setenv("PARHELION_NODE_RANKS", before.c_str(), 1)
                  : unsetenv("PARHELION_NODE_RANKS");
}

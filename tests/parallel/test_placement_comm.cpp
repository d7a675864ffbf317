// Placement of real ranks: communicators, coordinates, sub-communicators.
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "parhelion/core/error.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::vector<int> gathered(MPI_Comm comm, int own) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  return all;
}

bool is_permutation_of_all(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r] != static_cast<int>(r)) return false;
  return true;
}

}  // namespace

CASE("discovery puts every rank at a position of its own, on the node that shares its memory") {
  const auto found = discover(MPI_COMM_WORLD);
  EXPECT_EQ(found.machine.size(), world_size());
  EXPECT_TRUE(is_permutation_of_all(gathered(MPI_COMM_WORLD, found.position)));
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const auto nodes = gathered(node, found.machine.node_of(found.position));
  EXPECT_EQ(std::ranges::count(nodes, nodes.front()), static_cast<long>(nodes.size()));
  MPI_Comm_free(&node);
}

CASE("ranks of one color are one node, with unequal ranks per node") {
  const int color =
      world_rank() % 3 == 0 ? 7 : 3;  // interleaved nodes, as with cyclic rank placement
  const auto found = discover(MPI_COMM_WORLD, color);
  EXPECT_EQ(found.machine.nodes(), (world_size() == 1 ? 1 : 2));
  const auto colors = gathered(MPI_COMM_WORLD, color);
  const auto nodes = gathered(MPI_COMM_WORLD, found.machine.node_of(found.position));
  for (std::size_t r = 0; r < colors.size(); ++r)
    EXPECT_EQ(nodes[r], (colors[r] == colors[0] ? 0 : 1));
  EXPECT_TRUE(is_permutation_of_all(gathered(MPI_COMM_WORLD, found.position)));
}

CASE("every rank has its own coordinates, and rank and coordinates translate both ways") {
  for (const char* numbering : {"", "XY", "YX"}) {
    const PlacedComm placed(MPI_COMM_WORLD, {.cells = {64, 64},
                                                .periodic = {true, false},
                                                .numbering = numbering,
                                                .node_color = world_rank() % 2});
    EXPECT_EQ(placed.size(), world_size());
    int rank = -1;
    MPI_Comm_rank(placed.comm(), &rank);
    EXPECT_EQ(rank, placed.rank());
    for (int r = 0; r < placed.size(); ++r) EXPECT_EQ(placed.rank_of(placed.coords_of(r)), r);
    const auto grid = placed.grid();
    EXPECT_EQ(grid[0] * grid[1], placed.size());
    auto coords = placed.coords();
    coords[0] -= 3 * grid[0];
    EXPECT_EQ(placed.rank_of(coords), placed.rank());
    EXPECT_EQ(placed.rank_of({0, -1}), MPI_PROC_NULL);
    EXPECT_EQ(placed.rank_of({0, grid[1]}), MPI_PROC_NULL);
    EXPECT_THROW(static_cast<void>(placed.rank_of({0})), parhelion::Error);
  }
}

CASE("the placement is where the processes really are") {
  const int color = (world_rank() / 2) % 2;
  const PlacedComm placed(MPI_COMM_WORLD, {.cells = {32, 32}, .node_color = color});
  const auto colors = gathered(placed.comm(), color);
  const auto& placement = placed.placement();
  for (int a = 0; a < placed.size(); ++a)
    for (int b = 0; b < a; ++b) {
      const auto ca = placed.coords_of(a), cb = placed.coords_of(b);
      const bool together =
          placement.node({ca[0], ca[1], 0, 0}) == placement.node({cb[0], cb[1], 0, 0});
      EXPECT_EQ(
          together, (colors[static_cast<std::size_t>(a)] == colors[static_cast<std::size_t>(b)]));
    }
  EXPECT_LE(placed.scores()[0].bytes_sum, placed.scores_blocked()[0].bytes_sum);
}

CASE("an MPI_Cart communicator made from it keeps every process at its coordinates") {
  for (const char* numbering : {"XYZ", "ZXY", ""}) {
    const PlacedComm placed(MPI_COMM_WORLD, {.cells = {16, 16, 16},
                                                .periodic = {true},
                                                .numbering = numbering,
                                                .node_color = world_rank() % 2});
    MPI_Comm cart = placed.to_cart();
    int status = 0, rank = 0, coords[3];
    MPI_Topo_test(cart, &status);
    EXPECT_EQ(status, MPI_CART);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 3, coords);
    EXPECT_EQ(std::vector<int>(coords, coords + 3), placed.coords());
    MPI_Comm_free(&cart);
  }
}

CASE("sub-communicators hold the ranks that share the other coordinates, in their order") {
  const PlacedComm placed(MPI_COMM_WORLD, {.cells = {40, 40}, .node_color = world_rank() % 2});
  MPI_Comm line = placed.sub({true, false});
  int size = 0, rank = 0;
  MPI_Comm_size(line, &size);
  MPI_Comm_rank(line, &rank);
  EXPECT_EQ(size, placed.grid()[0]);
  EXPECT_EQ(rank, placed.coords()[0]);
  const auto columns = gathered(line, placed.coords()[1]);
  EXPECT_EQ(std::ranges::count(columns, placed.coords()[1]), size);
  MPI_Comm_free(&line);
  EXPECT_THROW(static_cast<void>(placed.sub({true})), parhelion::Error);
}

CASE("it works inside a larger communicator") {
  const bool mine = world_rank() % 2 == 0;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, mine, -world_rank(), &half);
  {
    const PlacedComm placed(half, {.cells = {128}});
    EXPECT_TRUE(is_permutation_of_all(gathered(half, placed.rank())));
  }
  MPI_Comm_free(&half);
}

CASE("a domain on the placed communicator finds its ranks where they were put") {
  const PlacedComm placed(
      MPI_COMM_WORLD, {.cells = {24, 24, 24}, .periodic = {true}, .node_color = world_rank() % 2});
  const parhelion::CartesianDomain domain(
      {24, 24, 24}, {.periodic = true, .process_grid = placed.grid()}, placed.comm());
  EXPECT_EQ(domain.coordinates(), placed.coords());
}

CASE("blocks by hand need the machine that they describe") {
  const PlacedOptions right{.blocks = {{"node", {world_size(), 1}}}, .node_color = world_rank()};
  const PlacedComm placed(MPI_COMM_WORLD, right);
  EXPECT_EQ(placed.grid(), (std::vector<int>{world_size(), 1}));
  const PlacedOptions wrong{.blocks = {{"node", {world_size() + 1}}}, .node_color = world_rank()};
  EXPECT_THROW(static_cast<void>(PlacedComm(MPI_COMM_WORLD, wrong)), parhelion::Error);
}

CASE("mistakes are reported on every rank") {
  EXPECT_THROW(static_cast<void>(PlacedComm(MPI_COMM_WORLD, {})), parhelion::Error);
  EXPECT_THROW(static_cast<void>(PlacedComm(MPI_COMM_WORLD, {.grid = {world_size() + 1}})),
      parhelion::Error);
  EXPECT_THROW(
      static_cast<void>(PlacedComm(MPI_COMM_WORLD, {.cells = {64, 64}, .numbering = "XX"})),
      parhelion::Error);
  if (world_size() > 1)
    EXPECT_THROW(static_cast<void>(PlacedComm(MPI_COMM_WORLD, {.cells = {64 + world_rank() % 2}})),
        parhelion::Error);
}

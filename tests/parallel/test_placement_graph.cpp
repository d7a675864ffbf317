// Placement of an index map's parts on nodes.
#include <mpi.h>

#include "parhelion/core/error.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/placement/graph.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

CASE("the communicator returned holds every part once, and partners share a node where they fit") {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int partner = (rank + size / 2) % size;
  const int color = rank / 2;  // two consecutive ranks form a node
  const PartEdges edges = partner == rank ? PartEdges{} : PartEdges{{partner}, {1000}};
  MPI_Comm placed = place_parts(MPI_COMM_WORLD, edges, Objective::jsum, color);
  ASSERT_EQ(size_of(placed), size);
  if (size == 4 || size == 8) {
    std::vector<int> colors(static_cast<std::size_t>(size));
    MPI_Allgather(&color, 1, MPI_INT, colors.data(), 1, MPI_INT, placed);
    for (int part = 0; part < size; ++part)
      EXPECT_EQ(colors[static_cast<std::size_t>(part)],
          colors[static_cast<std::size_t>((part + size / 2) % size)]);
  }
  MPI_Comm_free(&placed);
}

CASE("what an index map's pattern sends becomes the graph") {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  const int left = (rank + size - 1) % size;
  const parhelion::IndexedDomain domain(
      10, {left * 10 + 1, left * 10 + 2, left * 10 + 1}, MPI_COMM_WORLD);
  const auto edges = edges_of(parhelion::build_pattern(domain), 4);
  ASSERT_EQ(edges.part.size(), 1);
  EXPECT_EQ(edges.part[0], (rank + 1) % size);
  EXPECT_EQ(edges.bytes[0], 8);  // two distinct cells; the third ghost is a duplicate
}

CASE("what a grid's pattern sends becomes the graph, without copies of it") {
  const int size = size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  const parhelion::CartesianDomain domain(
      {4 * size, 8}, {.periodic = {false, true}, .process_grid = {size, 1}}, MPI_COMM_WORLD);
  for (const std::int64_t bytes : edges_of(parhelion::build_pattern(domain), 8).bytes)
    EXPECT_EQ(bytes, 8 * 8);
}

CASE("what travels over a fold is part of the graph") {
  const int partner = size_of(MPI_COMM_WORLD) - 1 - rank_in(MPI_COMM_WORLD);
  const parhelion::CartesianDomain domain({4 * size_of(MPI_COMM_WORLD), 8},
      {.process_grid = {size_of(MPI_COMM_WORLD), 1}, .seams = {parhelion::fold()}}, MPI_COMM_WORLD);
  const auto edges = edges_of(parhelion::build_pattern(domain), 8);
  std::int64_t over = 0;
  for (std::size_t i = 0; i < edges.part.size(); ++i)
    if (edges.part[i] == partner) over += edges.bytes[i];
  EXPECT_GE(over, 4 * 8);
}

CASE("an edge to a rank that does not exist is reported on every rank") {
  const PartEdges wrong = rank_in(MPI_COMM_WORLD) == 0 ? PartEdges{{99}, {1}} : PartEdges{};
  EXPECT_THROW(static_cast<void>(place_parts(MPI_COMM_WORLD, wrong)), parhelion::Error);
  const PartEdges uneven{{0}, {}};
  EXPECT_THROW(static_cast<void>(place_parts(MPI_COMM_WORLD, uneven)), parhelion::Error);
}

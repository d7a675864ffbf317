#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <string>

#include "ghost_update.hpp"

namespace applications {

using Triple = std::array<int, 3>;

/// A rank's box of a hexahedral grid and the nodes of its cells, first dimension fastest. Adjacent
/// boxes share a plane of nodes.
struct NodeBox {
  MPI_Comm comm;
  Triple grid, cells, place{};  // ranks per dimension; cells per rank; this rank's coordinates

  NodeBox(const Triple& ranks, const Triple& cells_of_a_rank, MPI_Comm of)
      : comm(of), grid(ranks), cells(cells_of_a_rank) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    place = {rank % grid[0], rank / grid[0] % grid[1], rank / (grid[0] * grid[1])};
  }
  int nodes() const { return number({cells[0], cells[1], cells[2]}) + 1; }
  int number(const Triple& at) const {
    return at[0] + (cells[0] + 1) * (at[1] + (cells[1] + 1) * at[2]);
  }
  Triple at(int node) const {
    return {node % (cells[0] + 1), node / (cells[0] + 1) % (cells[1] + 1),
        node / ((cells[0] + 1) * (cells[1] + 1))};
  }
  /// Number of the node in the whole grid.
  std::int64_t global(int node) const {
    const Triple here = at(node);
    std::int64_t id = 0;
    for (std::size_t d = 3; d-- > 0;)
      id =
          id * (std::int64_t{grid[d]} * cells[d] + 1) + std::int64_t{place[d]} * cells[d] + here[d];
    return id;
  }
  std::int64_t all_nodes() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < 3; ++d) count *= std::int64_t{grid[d]} * cells[d] + 1;
    return count;
  }
  /// The rank in a direction (−1, 0 or 1 per dimension); MPI_PROC_NULL beyond the grid.
  int neighbor(const Triple& direction) const {
    Triple there{};
    for (std::size_t d = 0; d < 3; ++d) {
      there[d] = place[d] + direction[d];
      if (there[d] < 0 || there[d] >= grid[d]) return MPI_PROC_NULL;
    }
    return there[0] + grid[0] * (there[1] + grid[1] * there[2]);
  }
  /// Traffic of three fields: the planes, edges and corners that this rank shares with up to 26
  /// neighbors.
  Traffic to_neighbors() const {
    Traffic sum;
    for (int k = 0; k < 27; ++k) {
      const Triple direction{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      if (k == 13 || neighbor(direction) == MPI_PROC_NULL) continue;
      std::int64_t nodes = 1;
      for (std::size_t d = 0; d < 3; ++d) nodes *= direction[d] == 0 ? cells[d] + 1 : 1;
      sum.bytes += 3 * nodes * static_cast<std::int64_t>(sizeof(double)), ++sum.messages;
    }
    return sum;
  }
};

/// Interface that sums three fields on the nodes that several ranks hold. Each implementation is a
/// file in exchanges/.
class NodeSums {
 public:
  virtual ~NodeSums() = default;
  /// Returns zeroed arrays for three fields, which this object owns. Collective.
  virtual std::array<std::span<double>, 3> add(const NodeBox& box) = 0;
  virtual void sum() = 0;
  /// Traffic of one sum.
  virtual Traffic traffic() const { return {}; }
  virtual std::string explain() const { return {}; }
};

using NodeSumsPointer = std::unique_ptr<NodeSums>;

}  // namespace applications

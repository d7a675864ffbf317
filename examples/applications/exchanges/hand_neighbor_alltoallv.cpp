#include "exchanges/exchanges.hpp"
#include "exchanges/hand_lists.hpp"

namespace applications {

namespace {

/// Counts and offsets in values. One spare entry keeps data() valid without neighbors.
struct Layout {
  std::vector<int> counts, offsets;
  Layout(const std::vector<int>& cell_offsets, int components) {
    for (std::size_t i = 0; i + 1 < cell_offsets.size(); ++i)
      counts.push_back((cell_offsets[i + 1] - cell_offsets[i]) * components);
    counts.push_back(0);
    for (int offset : cell_offsets) offsets.push_back(offset * components);
  }
};

struct NeighborLists : HandLists {
  MPI_Comm neighborhood = MPI_COMM_NULL;

  explicit NeighborLists(const Cells& cells) : HandLists(cells) {
    std::vector<int> from = sources, to = targets;
    from.push_back(0), to.push_back(0);  // one spare entry each, as in Layout
    MPI_Dist_graph_create_adjacent(cells.comm, static_cast<int>(sources.size()), from.data(),
        MPI_UNWEIGHTED, static_cast<int>(targets.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
        0, &neighborhood);
  }
  ~NeighborLists() { MPI_Comm_free(&neighborhood); }
  NeighborLists(const NeighborLists&) = delete;
  NeighborLists& operator=(const NeighborLists&) = delete;
};

struct Array {
  std::shared_ptr<const NeighborLists> lists;
  int components;
  std::vector<double> values, packed;
  double* ghosts;
  Layout sent, received;

  Array(std::shared_ptr<const NeighborLists> made, const Cells& cells, int each)
      : lists(std::move(made)), components(each),
        values(cells.size() * static_cast<std::size_t>(each)),
        packed(lists->cells.size() * static_cast<std::size_t>(each)),
        ghosts(values.data() + cells.owned * each), sent(lists->send_offset, each),
        received(lists->ghost_offset, each) {}
};

class HandNeighborAlltoallv final : public HandUpdate<Array, NeighborLists> {
 public:
  void update(std::size_t number) override {
    Array& array = arrays_[number];
    for (std::size_t t = 0; t < array.lists->targets.size(); ++t)
      array.lists->pack(
          array.values.data(), t, array.components, array.packed.data() + array.sent.offsets[t]);
    MPI_Neighbor_alltoallv(array.packed.data(), array.sent.counts.data(), array.sent.offsets.data(),
        MPI_DOUBLE, array.ghosts, array.received.counts.data(), array.received.offsets.data(),
        MPI_DOUBLE, array.lists->neighborhood);
  }
};

}  // namespace

GhostUpdatePointer by_hand_with_neighbor_alltoallv() {
  return std::make_unique<HandNeighborAlltoallv>();
}

}  // namespace applications

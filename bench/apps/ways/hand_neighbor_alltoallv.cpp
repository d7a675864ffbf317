#include "apps/ways/hand_lists.hpp"
#include "apps/ways/ways.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

/// Counts and offsets in values; one spare entry, so that data() is valid without neighbors.
struct Layout {
    std::vector<int> counts, offsets;
    Layout(const std::vector<int>& cell_offsets, int components) {
        for (std::size_t i = 0; i + 1 < cell_offsets.size(); ++i) counts.push_back((cell_offsets[i + 1] - cell_offsets[i]) * components);
        counts.push_back(0);
        for (int offset : cell_offsets) offsets.push_back(offset * components);
    }
};

struct NeighborLists : HandLists {
    Neighborhood neighborhood;
    explicit NeighborLists(const Cells& cells) : HandLists(cells), neighborhood(cells.comm, sources, targets) {}
};

struct Array {
    std::shared_ptr<const NeighborLists> lists;
    int components;
    std::vector<double> values, packed;
    double* ghosts;
    Layout sent, received;

    Array(std::shared_ptr<const NeighborLists> made, const Cells& cells, int each)
        : lists(std::move(made)), components(each), values(cells.size() * static_cast<std::size_t>(each)),
          packed(lists->cells.size() * static_cast<std::size_t>(each)), ghosts(values.data() + cells.owned * each),
          sent(lists->send_offset, each), received(lists->ghost_offset, each) {}
};

class HandNeighborAlltoallv final : public HandUpdate<Array, NeighborLists> {
public:
    void update(std::size_t number) override {
        Array& array = arrays_[number];
        for (std::size_t t = 0; t < array.lists->targets.size(); ++t)
            array.lists->pack(array.values.data(), t, array.components, array.packed.data() + array.sent.offsets[t]);
        MPI_Neighbor_alltoallv(array.packed.data(), array.sent.counts.data(), array.sent.offsets.data(), MPI_DOUBLE, array.ghosts,
                               array.received.counts.data(), array.received.offsets.data(), MPI_DOUBLE, array.lists->neighborhood.get());
    }
};

}  // namespace

GhostUpdatePointer by_hand_with_neighbor_alltoallv() { return std::make_unique<HandNeighborAlltoallv>(); }

}  // namespace parhelion::bench

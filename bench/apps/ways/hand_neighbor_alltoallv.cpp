#include <deque>

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

class HandNeighborAlltoallv final : public GhostUpdate {
public:
    std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
        const auto lists = std::make_shared<const HandLists>(cells);
        const auto neighborhood = std::make_shared<const Neighborhood>(cells.comm, lists->sources, lists->targets);
        std::vector<Ghosted> added;
        for (int i = 0; i < count; ++i) {
            Array& array = arrays_.emplace_back(lists, neighborhood, cells, components);
            added.push_back({array.values, arrays_.size() - 1});
        }
        return added;
    }

    void update(std::size_t number) override {
        Array& array = arrays_[number];
        for (std::size_t t = 0; t < array.lists->targets.size(); ++t)
            array.lists->pack(array.values.data(), t, array.components, array.packed.data() + array.sent.offsets[t]);
        MPI_Neighbor_alltoallv(array.packed.data(), array.sent.counts.data(), array.sent.offsets.data(), MPI_DOUBLE, array.ghosts,
                               array.received.counts.data(), array.received.offsets.data(), MPI_DOUBLE, array.neighborhood->get());
    }

    Traffic traffic(std::size_t number) const override {
        const Array& array = arrays_[number];
        return {static_cast<std::int64_t>(array.packed.size() * sizeof(double)), static_cast<std::int64_t>(array.lists->targets.size())};
    }

private:
    struct Array {
        std::shared_ptr<const HandLists> lists;
        std::shared_ptr<const Neighborhood> neighborhood;
        int components;
        std::vector<double> values, packed;
        double* ghosts;
        Layout sent, received;

        Array(std::shared_ptr<const HandLists> made, std::shared_ptr<const Neighborhood> neighbors, const Cells& cells, int each)
            : lists(std::move(made)), neighborhood(std::move(neighbors)), components(each),
              values(cells.size() * static_cast<std::size_t>(each)), packed(lists->cells.size() * static_cast<std::size_t>(each)),
              ghosts(values.data() + cells.owned * each), sent(lists->send_offset, each), received(lists->ghost_offset, each) {}
    };
    std::deque<Array> arrays_;
};

}  // namespace

GhostUpdatePointer by_hand_with_neighbor_alltoallv() { return std::make_unique<HandNeighborAlltoallv>(); }

}  // namespace parhelion::bench

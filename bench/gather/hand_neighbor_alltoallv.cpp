#include "gather/baselines.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

/// Counts and offsets in bytes; one spare entry, so that data() is valid without neighbors.
struct Layout {
    std::vector<int> counts, offsets;
    Layout(const std::vector<std::size_t>& cell_offsets, std::size_t cell_bytes) {
        for (std::size_t i = 0; i + 1 < cell_offsets.size(); ++i)
            counts.push_back(
                static_cast<int>((cell_offsets[i + 1] - cell_offsets[i]) * cell_bytes));
        counts.push_back(0);
        for (std::size_t cell : cell_offsets)
            offsets.push_back(static_cast<int>(cell * cell_bytes));
    }
};

class GatherNeighborAlltoallv : public HandGather {
public:
    GatherNeighborAlltoallv(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup, std::move(lists)), buffer_(1, buffer_bytes()),
          sent_(lists_.send_offset, array_->cell_bytes()),
          received_(lists_.ghost_offset, array_->cell_bytes()),
          neighborhood_(setup.comm, lists_.sources, lists_.targets) {}

    void exchange() override {
        pack_cells(array_->cells(), lists_.cells.data(), lists_.cells.size(), array_->cell_bytes(),
                   buffer_.block(0));
        MPI_Neighbor_alltoallv(buffer_.block(0), sent_.counts.data(), sent_.offsets.data(),
                               MPI_BYTE, array_->ghosts(), received_.counts.data(),
                               received_.offsets.data(), MPI_BYTE, neighborhood_.get());
    }

private:
    PrivateMemory buffer_;
    Layout sent_, received_;
    Neighborhood neighborhood_;
};

}  // namespace

ContenderPointer make_gather_neighbor_alltoallv(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherNeighborAlltoallv>(setup, times);
}

}  // namespace parhelion::bench

#include "halo/baselines.hpp"

#include "clock.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

/// Counts and displacements in bytes; one spare entry, so that data() is valid without neighbors.
struct Layout {
    std::vector<int> counts, offsets;
    Layout(const std::vector<Message>& messages, const MessageBuffers& buffers) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            counts.push_back(static_cast<int>(messages[i].bytes));
            offsets.push_back(static_cast<int>(buffers.offset(i)));
        }
        counts.push_back(0);
        offsets.push_back(0);
    }
};

class HandNeighborAlltoallv : public Contender {
public:
    HandNeighborAlltoallv(const HaloSetup& setup, Messages messages)
        : arrays_(setup.arrays), messages_(std::move(messages)), send_buffers_(messages_.sends),
          receive_buffers_(messages_.receives), sent_(messages_.sends, send_buffers_),
          received_(messages_.receives, receive_buffers_),
          neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {}

    void exchange() override {
        for (std::size_t i = 0; i < messages_.sends.size(); ++i) pack_message(messages_.sends[i], send_buffers_[i]);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ineighbor_alltoallv(send_buffers_.start(), sent_.counts.data(), sent_.offsets.data(), MPI_BYTE,
                                receive_buffers_.start(), received_.counts.data(), received_.offsets.data(), MPI_BYTE,
                                neighborhood_.get(), &request);
        copy_local(messages_.local);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (std::size_t i = 0; i < messages_.receives.size(); ++i) unpack_message(receive_buffers_[i], messages_.receives[i]);
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    std::shared_ptr<HaloArrays> arrays_;
    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    Layout sent_, received_;
    Neighborhood neighborhood_;
};

}  // namespace

ContenderPointer make_hand_neighbor_alltoallv(const HaloSetup& setup, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, Grouping::per_rank); });
    return timed(times.plan, [&] { return std::make_unique<HandNeighborAlltoallv>(setup, std::move(messages)); });
}

}  // namespace parhelion::bench

#include "halo/baselines.hpp"
#include "halo/message_kinds.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

class HandNeighborAlltoallw : public HandHalo {
public:
    HandNeighborAlltoallw(const HaloSetup& setup, Messages messages)
        : HandHalo(setup), messages_(std::move(messages)),
          ones_(messages_.sends.size() + messages_.receives.size() + 1, 1), zeros_(ones_.size(), 0),
          neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {
        add_message_types(messages_.sends, send_types_);
        add_message_types(messages_.receives, receive_types_);
    }

    void begin() override {
        MPI_Ineighbor_alltoallw(MPI_BOTTOM, ones_.data(), zeros_.data(), send_types_.data(),
                                MPI_BOTTOM, ones_.data(), zeros_.data(), receive_types_.data(),
                                neighborhood_.get(), &request_);
        copy_local(messages_.local);
    }
    void end() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    Messages messages_;
    Datatypes send_types_, receive_types_;
    std::vector<int> ones_;
    std::vector<MPI_Aint> zeros_;
    Neighborhood neighborhood_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

ContenderPointer make_hand_neighbor_alltoallw(const HaloSetup& setup, SetupTimes& times) {
    return make_of_messages<HandNeighborAlltoallw>(setup, times);
}

}  // namespace parhelion::bench

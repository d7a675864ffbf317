#include "halo/baselines.hpp"

#include "clock.hpp"

namespace parhelion::bench {

namespace {

class HandPacked : public Contender {
public:
    HandPacked(const HaloSetup& setup, Messages messages)
        : comm_(setup.comm), arrays_(setup.arrays), messages_(std::move(messages)), send_buffers_(messages_.sends),
          receive_buffers_(messages_.receives), sends_(messages_.sends.size()), receives_(messages_.receives.size()) {}

    void exchange() override {
        post_receives();
        pack_and_send();
        copy_local(messages_.local);
        unpack_arrivals();
        MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    void post_receives() {
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            const Message& message = messages_.receives[i];
            MPI_Irecv(receive_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm_,
                      &receives_[i]);
        }
    }

    void pack_and_send() {
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            const Message& message = messages_.sends[i];
            pack_message(message, send_buffers_[i]);
            MPI_Isend(send_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm_,
                      &sends_[i]);
        }
    }

    void unpack_arrivals() {
        for (std::size_t left = receives_.size(); left > 0; --left) {
            int which = 0;
            MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE);
            unpack_message(receive_buffers_[static_cast<std::size_t>(which)], messages_.receives[static_cast<std::size_t>(which)]);
        }
    }

    MPI_Comm comm_;
    std::shared_ptr<HaloArrays> arrays_;
    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    std::vector<MPI_Request> sends_, receives_;
};

}  // namespace

ContenderPointer make_hand_packed(const HaloSetup& setup, Grouping grouping, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<HandPacked>(setup, std::move(messages)); });
}

}  // namespace parhelion::bench

#include "halo/baselines.hpp"

#include "clock.hpp"
#include "requests.hpp"
#include "halo/message_types.hpp"

namespace parhelion::bench {

namespace {

class HandDatatype : public Contender {
public:
    HandDatatype(const HaloSetup& setup, Messages messages)
        : arrays_(setup.arrays), messages_(std::move(messages)) {
        add_message_types(messages_.sends, send_types_);
        add_message_types(messages_.receives, receive_types_);
        for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
            const Message& message = messages_.receives[i];
            MPI_Recv_init(MPI_BOTTOM, 1, receive_types_[i], message.rank, message.tag, setup.comm, requests_.add());
        }
        for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
            const Message& message = messages_.sends[i];
            MPI_Send_init(MPI_BOTTOM, 1, send_types_[i], message.rank, message.tag, setup.comm, requests_.add());
        }
    }

    void exchange() override {
        requests_.start_all();
        copy_local(messages_.local);
        requests_.wait_all();
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    std::shared_ptr<HaloArrays> arrays_;
    Messages messages_;
    Datatypes send_types_, receive_types_;
    PersistentRequests requests_;
};

}  // namespace

ContenderPointer make_hand_datatype(const HaloSetup& setup, Grouping grouping, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<HandDatatype>(setup, std::move(messages)); });
}

}  // namespace parhelion::bench

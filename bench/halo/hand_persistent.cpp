#include "halo/baselines.hpp"

#include "clock.hpp"
#include "halo/persistent_messages.hpp"

namespace parhelion::bench {

namespace {

class HandPersistent : public Contender {
public:
    HandPersistent(const HaloSetup& setup, Messages messages)
        : arrays_(setup.arrays), messages_(setup.comm, std::move(messages)) {}

    void exchange() override {
        messages_.post_receives();
        messages_.pack_and_send();
        messages_.copy_own_images();
        messages_.unpack_arrivals();
        messages_.wait_for_sends();
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return messages_.traffic(); }

private:
    std::shared_ptr<HaloArrays> arrays_;
    PersistentMessages messages_;
};

}  // namespace

ContenderPointer make_hand_persistent(const HaloSetup& setup, Grouping grouping, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<HandPersistent>(setup, std::move(messages)); });
}

}  // namespace parhelion::bench

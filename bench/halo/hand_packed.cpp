#include "clock.hpp"
#include "halo/baselines.hpp"
#include "halo/isend_messages.hpp"
#include "halo/steps.hpp"

namespace parhelion::bench {

ContenderPointer make_hand_packed(const HaloSetup& setup, Grouping grouping, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<Direct<IsendMessages>>(setup.comm, setup.arrays, std::move(messages)); });
}

}  // namespace parhelion::bench

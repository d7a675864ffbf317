#include "clock.hpp"
#include "halo/baselines.hpp"
#include "halo/steps.hpp"
#include "halo/typed_messages.hpp"

namespace parhelion::bench {

ContenderPointer make_hand_datatype(const HaloSetup& setup, Grouping grouping, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, grouping); });
    return timed(times.plan, [&] { return std::make_unique<Direct<TypedMessages>>(setup.comm, setup.arrays, std::move(messages)); });
}

}  // namespace parhelion::bench

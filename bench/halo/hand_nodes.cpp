#include "clock.hpp"
#include "halo/baselines.hpp"
#include "halo/node_messages.hpp"
#include "halo/steps.hpp"

namespace parhelion::bench {

ContenderPointer make_hand_nodes(const HaloSetup& setup, SetupTimes& times) {
    Messages messages = timed(times.pattern, [&] { return plan_messages(*setup.arrays, Grouping::per_rank); });
    return timed(times.plan, [&] { return std::make_unique<Direct<NodeMessages>>(setup.comm, setup.arrays, std::move(messages)); });
}

}  // namespace parhelion::bench

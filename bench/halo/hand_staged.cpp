#include "errors.hpp"
#include "halo/message_kinds.hpp"
#include "halo/steps.hpp"

namespace parhelion::bench {

namespace {

Offset step_along(int dim, int side) {
    Offset offset{};
    offset[static_cast<std::size_t>(dim)] = side;
    return offset;
}

// Dimensions that earlier stages filled travel with their ghosts: this forwards edges and corners.
Box with_ghosts_below(const HaloGeometry& geometry, int dim, Box box) {
    for (int d = 0; d < dim; ++d) {
        const auto i = static_cast<std::size_t>(d);
        if (neighbor_rank(geometry, step_along(d, -1))) box.lo[i] -= geometry.halo[i];
        if (neighbor_rank(geometry, step_along(d, 1))) box.hi[i] += geometry.halo[i];
    }
    return box;
}

Messages plan_stage(const HaloArrays& arrays, int dim) {
    const HaloGeometry& geometry = arrays.geometry();
    Messages plan;
    for (int side : {-1, 1}) {
        const Offset offset = step_along(dim, side);
        if (!neighbor_rank(geometry, offset)) continue;
        add_exchange(arrays, offset, with_ghosts_below(geometry, dim, send_box(geometry, offset)),
                     with_ghosts_below(geometry, dim, ghost_box(geometry, offset)), plan);
    }
    return plan;
}

std::vector<Messages> plan_stages(const HaloSetup& setup, SetupTimes& times) {
    if (!setup.geometry.full)
        throw CannotRun("stages serve to forward edges and corners; faces alone need none");
    return timed(times.pattern, [&] {
        std::vector<Messages> stages;
        for (int dim = 0; dim < setup.geometry.dims; ++dim)
            stages.push_back(plan_stage(*setup.arrays, dim));
        return stages;
    });
}

template <class MessageKind>
ContenderPointer make_staged(const HaloSetup& setup, SetupTimes& times) {
    std::vector<Messages> stages = plan_stages(setup, times);
    return timed(times.plan,
                 [&] { return std::make_unique<Staged<MessageKind>>(setup, std::move(stages)); });
}

}  // namespace

ContenderPointer make_hand_staged(const HaloSetup& setup, SetupTimes& times) {
    return make_staged<PersistentMessages>(setup, times);
}

ContenderPointer make_hand_staged_datatype(const HaloSetup& setup, SetupTimes& times) {
    return make_staged<TypedMessages>(setup, times);
}

}  // namespace parhelion::bench

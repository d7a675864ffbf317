#include "halo/baselines.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "halo/persistent_messages.hpp"

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

class HandStaged : public Contender {
public:
    HandStaged(const HaloSetup& setup, std::vector<Messages> stages) : arrays_(setup.arrays) {
        for (Messages& stage : stages) stages_.push_back(std::make_unique<PersistentMessages>(setup.comm, std::move(stage)));
    }

    void exchange() override {
        for (auto& stage : stages_) stage->post_receives();
        for (auto& stage : stages_) {
            stage->pack_and_send();
            stage->copy_own_images();
            stage->unpack_arrivals();
        }
        for (auto& stage : stages_) stage->wait_for_sends();
    }

    Values& values() override { return *arrays_; }
    Traffic traffic() const override {
        Traffic total;
        for (const auto& stage : stages_) {
            total.bytes += stage->traffic().bytes;
            total.messages += stage->traffic().messages;
        }
        return total;
    }

private:
    std::shared_ptr<HaloArrays> arrays_;
    std::vector<std::unique_ptr<PersistentMessages>> stages_;
};

}  // namespace

ContenderPointer make_hand_staged(const HaloSetup& setup, SetupTimes& times) {
    if (!setup.geometry.full) throw CannotRun("stages serve to forward edges and corners; faces alone need none");
    std::vector<Messages> stages;
    timed(times.pattern, [&] {
        for (int dim = 0; dim < setup.geometry.dims; ++dim) stages.push_back(plan_stage(*setup.arrays, dim));
    });
    return timed(times.plan, [&] { return std::make_unique<HandStaged>(setup, std::move(stages)); });
}

}  // namespace parhelion::bench

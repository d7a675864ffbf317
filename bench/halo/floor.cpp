#include "halo/case.hpp"
#include "halo/device.hpp"
#include "parhelion/core/collective.hpp"

namespace parhelion::bench {

namespace {

/// Each rank alone: its block is the whole domain, and its ghosts are copies of its own cells.
///
/// The library's loops read and write as many cache lines as in any exchange of the case, once
/// each; no rank communicates or waits. A dimension stays non-periodic if either side has no
/// neighbor.
class HaloFloor final : public Variant {
public:
    HaloFloor(const HaloParams& params, SetupTimes& times)
        : setup_{MPI_COMM_SELF, params, make_geometry(params, 0), nullptr} {
        if (params.on_device) place_on_device(setup_);
        else setup_.values = setup_.arrays = node_shared_arrays(setup_);
        copies_ = make_library_variant(
            {"auto"}, [&] { return build_pattern(make_domain(setup_)); },
            fields_on(setup_, *setup_.arrays), setup_.values, times);
    }

    void exchange() override { copies_->exchange(); }
    Values& values() override { return *setup_.values; }
    Traffic traffic() const override { return {}; }

private:
    HaloSetup setup_;
    VariantPointer copies_;
};

HaloParams alone(const HaloSetup& setup) {
    HaloParams params = setup.params;
    const auto last = static_cast<std::size_t>(setup.geometry.dims) - 1;
    for (std::size_t job = 0; job <= last; ++job) {
        const std::size_t memory = params.first_fastest ? job : last - job;
        const auto position = setup.geometry.position[memory];
        const bool between = position > 0 && position < setup.geometry.grid[memory] - 1;
        params.periodic[job] = params.periodic[job] || between;
        params.grid[job] = 1;
    }
    return params;
}

}  // namespace

VariantPointer make_floor(const HaloSetup& setup, SetupTimes& times) {
    VariantPointer made;
    validate_together(setup.comm, [&] { made = std::make_unique<HaloFloor>(alone(setup), times); });
    return made;
}

}  // namespace parhelion::bench

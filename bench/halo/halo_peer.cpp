#include "peers/halo_peer.h"
#include "halo/baselines.hpp"
#include "peer.hpp"

namespace parhelion::bench {

namespace {

void require_case(const HaloSetup& setup) {
    if (setup.geometry.dims != 3) throw CannotRun("its plug-in has three dimensions");
    if (!setup.geometry.full) throw CannotRun("its plug-in has the full halo only");
    if (setup.params.components != 1) throw CannotRun("its plug-in has one component per element");
}

phl_peer_halo describe(const HaloSetup& setup, void* const* arrays) {
    const HaloGeometry& g = setup.geometry;
    phl_peer_halo halo{};
    halo.comm = setup.comm;
    halo.element_bytes = static_cast<int>(g.cell_bytes);
    halo.rank_of_block = g.rank;
    halo.halo = setup.params.halo;
    halo.fields = setup.params.fields;
    halo.arrays = arrays;
    for (std::size_t d = 0; d < 3; ++d) {
        halo.extent[d] = static_cast<int>(g.extent[d]);
        halo.grid[d] = static_cast<int>(g.grid[d]);
        halo.position[d] = static_cast<int>(g.position[d]);
        halo.rank_stride[d] = static_cast<int>(g.rank_stride[d]);
        halo.first[d] = halo.position[d] * halo.extent[d];
        halo.periodic[d] = g.periodic[d] ? 1 : 0;
    }
    return halo;
}

// The arrays' addresses are read until the peer goes.
struct PeerArrays : Values {
    explicit PeerArrays(std::shared_ptr<HaloArrays> all) : arrays(std::move(all)) {
        for (int f = 0; f < arrays->fields(); ++f) fields.push_back(arrays->field(f));
    }
    void refresh(unsigned round) override { arrays->refresh(round); }
    std::int64_t count_wrong(unsigned round) const override { return arrays->count_wrong(round); }

    std::shared_ptr<HaloArrays> arrays;
    std::vector<void*> fields;
};

}  // namespace

ContenderPointer make_halo_peer(const std::string& library, const std::string& variant,
                                const HaloSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] {
        const auto& functions = peer_functions<phl_halo_peer_functions>(library, "phl_halo_peer");
        require_case(setup);
        auto values = std::make_shared<PeerArrays>(setup.arrays);
        const Traffic traffic = traffic_of(plan_messages(*setup.arrays, Grouping::per_rank).sends);
        const phl_peer_halo told = describe(setup, values->fields.data());
        return std::make_unique<PlugInPeer<phl_halo_peer_functions>>(functions, variant, told,
                                                                     std::move(values), traffic);
    });
}

}  // namespace parhelion::bench

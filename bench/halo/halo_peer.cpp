#include "halo/halo_peer.hpp"

#include "clock.hpp"
#include "errors.hpp"
#include "halo/messages.hpp"
#include "peers/halo_peer.h"
#include "plug_in.hpp"

namespace parhelion::bench {

namespace {

const phl_halo_peer_functions& load(const std::string& library) {
    return *static_cast<const phl_halo_peer_functions*>(plug_in_symbol("peer_" + library, "phl_halo_peer", "`make peers` builds one"));
}

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

class HaloPeer final : public Contender {
public:
    HaloPeer(const std::string& library, const std::string& variant, const HaloSetup& setup)
        : functions_(load(library)), arrays_(setup.arrays), traffic_(traffic_of(plan_messages(*arrays_, Grouping::per_rank).sends)) {
        require_case(setup);
        for (int f = 0; f < arrays_->fields(); ++f) fields_.push_back(arrays_->field(f));
        const phl_peer_halo halo = describe(setup, fields_.data());
        char error[500] = "";
        peer_ = functions_.make(&halo, variant.c_str(), error, sizeof error);
        if (peer_ == nullptr) throw CannotRun(error);
    }
    ~HaloPeer() override { functions_.free(peer_); }
    HaloPeer(const HaloPeer&) = delete;
    HaloPeer& operator=(const HaloPeer&) = delete;

    void exchange() override {
        if (functions_.exchange(peer_) != 0) throw Error("the peer's exchange failed", ErrorKind::communication);
    }
    Values& values() override { return *arrays_; }
    Traffic traffic() const override { return traffic_; }
    nlohmann::json explain() const override { return functions_.version; }

private:
    const phl_halo_peer_functions& functions_;
    std::shared_ptr<HaloArrays> arrays_;
    Traffic traffic_;
    std::vector<void*> fields_;
    void* peer_ = nullptr;
};

}  // namespace

ContenderPointer make_halo_peer(const std::string& library, const std::string& variant, const HaloSetup& setup,
                                SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<HaloPeer>(library, variant, setup); });
}

}  // namespace parhelion::bench

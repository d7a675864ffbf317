#include "peers/gather_peer.h"
#include "gather/baselines.hpp"
#include "peer.hpp"

namespace parhelion::bench {

ContenderPointer make_gather_peer(const std::string& library, const std::string& variant,
                                  const GatherSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] {
        const auto& functions =
            peer_functions<phl_gather_peer_functions>(library, "phl_gather_peer");
        const GatherArray& array = *setup.array;
        const IndexedDomain& domain = *setup.domain;
        const Traffic traffic = traffic_of(
            build_index_lists(setup.comm, domain, array.cell_bytes()), array.cell_bytes());
        const std::vector<int> places = cells_at_owners(setup.comm, domain);
        const std::vector<std::int32_t> owners(domain.ghost_owners().begin(),
                                               domain.ghost_owners().end());
        const std::string element = to_string(setup.params.element);
        const phl_peer_gather told{setup.comm,
                                   domain.first(),
                                   domain.owned(),
                                   domain.ghosts(),
                                   domain.ghost_ids().data(),
                                   owners.data(),
                                   places.data(),
                                   element.c_str(),
                                   setup.params.components,
                                   array.cells(),
                                   array.ghosts()};
        return std::make_unique<PlugInPeer<phl_gather_peer_functions>>(functions, variant, told,
                                                                       setup.array, traffic);
    });
}

}  // namespace parhelion::bench

#include "contenders.hpp"

#include "floor/floor.hpp"
#include "halo/case.hpp"
#include "halo/node_messages.hpp"
#include "halo/own_halo.hpp"
#include "halo/steps.hpp"
#include "planted_fault.hpp"

namespace parhelion::bench {

namespace {

template <class MessageKind, Grouping grouping = Grouping::per_rank>
constexpr auto direct = make_of_messages<Direct<MessageKind>, grouping>;

ContenderPointer make_planted_fault(const HaloSetup& setup, SetupTimes& times) {
    auto right = direct<IsendMessages, Grouping::per_direction>(setup, times);
    return std::make_unique<PlantedFault>(
        std::move(right), is_last_rank(setup.comm) ? setup.arrays->field(0) : nullptr);
}

constexpr Named<HaloSetup> others[] = {
    {"hand_packed", "baseline", direct<IsendMessages, Grouping::per_direction>},
    {"hand_packed_merged", "baseline", direct<IsendMessages>},
    {"hand_persistent", "baseline", direct<PersistentMessages, Grouping::per_direction>},
    {"hand_persistent_merged", "baseline", direct<PersistentMessages>},
    {"hand_datatype", "baseline", direct<TypedMessages, Grouping::per_direction>},
    {"hand_datatype_merged", "baseline", direct<TypedMessages>},
    {"hand_neighbor_alltoallv", "baseline", make_hand_neighbor_alltoallv},
    {"hand_neighbor_alltoallv_init", "baseline", make_hand_neighbor_alltoallv_init},
    {"hand_neighbor_alltoallw", "baseline", make_hand_neighbor_alltoallw},
    {"hand_staged", "baseline", make_hand_staged},
    {"hand_staged_datatype", "baseline", make_hand_staged_datatype},
    {"hand_nodes", "baseline", direct<NodeMessages>, true},
    {"floor_put", "floor", make_halo_floor_put},
    {"floor_get", "floor", make_halo_floor_get},
    {"floor_packed", "floor", make_halo_floor_packed},
    {"planted_fault", "baseline", make_planted_fault, true},
};

}  // namespace

std::vector<Entry> halo_contenders(const HaloSetup& setup) {
    std::vector<Entry> entries;
    for (const OwnWay& way : own_ways())
        entries.push_back({way.transport, "own",
                           [=](SetupTimes& times) { return make_own_halo(way, setup, times); },
                           way.only_by_name, way.unavailable});
    add_entries(entries, others, setup);
    for (const char* variant : {"direct", "staged"}) {
        const std::string name =
            variant == std::string("direct") ? "ghex" : std::string("ghex_") + variant;
        entries.push_back(
            {name, "peer",
             [=](SetupTimes& times) { return make_halo_peer("ghex", variant, setup, times); },
             true});
    }
    return entries;
}

}  // namespace parhelion::bench

#include "contenders.hpp"

#include "floor/floor.hpp"
#include "gather/case.hpp"
#include "gather/own_gather.hpp"
#include "planted_fault.hpp"

namespace parhelion::bench {

namespace {

// Without ghosts the byte behind the array is hit, a guard: that is noticed too.
ContenderPointer make_planted_fault(const GatherSetup& setup, SetupTimes& times) {
    auto right = make_gather_isend(setup, times);
    return std::make_unique<PlantedFault>(
        std::move(right), is_last_rank(setup.comm) ? setup.array->ghosts() : nullptr);
}

constexpr Named<GatherSetup> others[] = {
    {"index_map", "own", make_index_map_gather},
    {"hand_neighbor_alltoallv", "baseline", make_gather_neighbor_alltoallv},
    {"hand_persistent_packed", "baseline", make_gather_persistent_packed},
    {"hand_isend", "baseline", make_gather_isend},
    {"hand_alltoallw", "baseline", make_gather_alltoallw},
    {"hand_put_pscw", "baseline", make_gather_put},
    {"hand_nodes", "baseline", make_gather_nodes, true},
    {"floor_put", "floor", make_gather_floor_put},
    {"floor_get", "floor", make_gather_floor_get},
    {"planted_fault", "baseline", make_planted_fault, true},
};

struct Peer {
    const char* name;
    const char* library;
    const char* variant;
};

constexpr Peer peers[] = {
    {"petsc_basic", "petsc", "basic"},
    {"petsc_neighbor", "petsc", "neighbor"},
    {"petsc_window_fence", "petsc", "window fence"},
    {"petsc_window_active", "petsc", "window active"},
    {"petsc_window_lock", "petsc", "window lock"},
    {"dolfinx", "dolfinx", "scatterer"},
};

}  // namespace

std::vector<Entry> gather_contenders(const GatherSetup& setup) {
    std::vector<Entry> entries;
    for (const OwnWay& way : own_ways())
        entries.push_back({way.transport, "own",
                           [=](SetupTimes& times) { return make_own_gather(way, setup, times); },
                           way.only_by_name, way.unavailable});
    add_entries(entries, others, setup);
    for (const Peer& peer : peers)
        entries.push_back({peer.name, "peer",
                           [=](SetupTimes& times) {
                               return make_gather_peer(peer.library, peer.variant, setup, times);
                           },
                           true});
    return entries;
}

}  // namespace parhelion::bench

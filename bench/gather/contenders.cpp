#include "gather/contenders.hpp"

#include "floor/floor.hpp"
#include "gather/own_gather.hpp"
#include "planted_fault.hpp"

namespace parhelion::bench {

namespace {

struct Named {
    const char* name;
    const char* role;
    ContenderPointer (*make)(const GatherSetup&, SetupTimes&);
};

constexpr Named others[] = {
    {"hand_neighbor_alltoallv", "baseline", make_gather_neighbor_alltoallv},
    {"hand_persistent_packed", "baseline", make_gather_persistent_packed},
    {"hand_isend", "baseline", make_gather_isend},
    {"hand_alltoallw", "baseline", make_gather_alltoallw},
    {"hand_put_pscw", "baseline", make_gather_put},
    {"floor_put", "floor", make_gather_floor_put},
    {"floor_get", "floor", make_gather_floor_get},
};

// Without ghosts the byte behind the array is hit, a guard: that is noticed too.
ContenderPointer make_planted_fault(const GatherSetup& setup, SetupTimes& times) {
    auto right = make_gather_isend(setup, times);
    return std::make_unique<PlantedFault>(std::move(right), is_last_rank(setup.comm) ? setup.array->ghosts() : nullptr);
}

}  // namespace

std::vector<Entry> gather_contenders(const GatherSetup& setup) {
    std::vector<Entry> entries;
    for (const OwnWay& way : own_ways())
        entries.push_back({way.transport, "own", [=](SetupTimes& times) { return make_own_gather(way, setup, times); },
                           way.only_by_name, way.unavailable});
    for (const Named& named : others)
        entries.push_back({named.name, named.role, [=](SetupTimes& times) { return named.make(setup, times); }});
    entries.push_back(
        {"planted_fault", "baseline", [=](SetupTimes& times) { return make_planted_fault(setup, times); }, true});
    return entries;
}

}  // namespace parhelion::bench

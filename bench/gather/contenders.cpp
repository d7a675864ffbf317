#include "gather/contenders.hpp"

namespace parhelion::bench {

namespace {

struct Named {
    const char* name;
    const char* role;
    ContenderPointer (*make)(const GatherSetup&, SetupTimes&);
};

constexpr Named hand_written[] = {
    {"hand_neighbor_alltoallv", "baseline", make_gather_neighbor_alltoallv},
    {"hand_persistent_packed", "baseline", make_gather_persistent_packed},
    {"hand_isend", "baseline", make_gather_isend},
    {"hand_alltoallw", "baseline", make_gather_alltoallw},
    {"hand_put_pscw", "baseline", make_gather_put},
};

}  // namespace

std::vector<Entry> gather_contenders(const GatherSetup& setup) {
    std::vector<Entry> entries;
    for (const Named& named : hand_written)
        entries.push_back({named.name, named.role, [=](SetupTimes& times) { return named.make(setup, times); }});
    return entries;
}

}  // namespace parhelion::bench

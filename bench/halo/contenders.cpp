#include "halo/contenders.hpp"

namespace parhelion::bench {

namespace {

using Make = std::function<ContenderPointer(const HaloSetup&, SetupTimes&)>;

struct Named {
    const char* name;
    const char* role;
    Make make;
};

template <class Function>
Make grouped(Function make, Grouping grouping) {
    return [=](const HaloSetup& setup, SetupTimes& times) { return make(setup, grouping, times); };
}

const std::vector<Named>& hand_written() {
    static const std::vector<Named> list{
        {"hand_packed", "baseline", grouped(make_hand_packed, Grouping::per_direction)},
        {"hand_packed_merged", "baseline", grouped(make_hand_packed, Grouping::per_rank)},
        {"hand_persistent", "baseline", grouped(make_hand_persistent, Grouping::per_direction)},
        {"hand_persistent_merged", "baseline", grouped(make_hand_persistent, Grouping::per_rank)},
        {"hand_datatype", "baseline", grouped(make_hand_datatype, Grouping::per_direction)},
        {"hand_datatype_merged", "baseline", grouped(make_hand_datatype, Grouping::per_rank)},
        {"hand_neighbor_alltoallv", "baseline", make_hand_neighbor_alltoallv},
        {"hand_neighbor_alltoallw", "baseline", make_hand_neighbor_alltoallw},
        {"hand_staged", "baseline", make_hand_staged},
    };
    return list;
}

}  // namespace

std::vector<Entry> halo_contenders(const HaloSetup& setup) {
    std::vector<Entry> entries;
    for (const Named& named : hand_written())
        entries.push_back({named.name, named.role, [=](SetupTimes& times) { return named.make(setup, times); }});
    return entries;
}

}  // namespace parhelion::bench

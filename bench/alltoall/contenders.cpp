#include "alltoall/contenders.hpp"

#include "alltoall/ways.hpp"
#include "planted_fault.hpp"

namespace parhelion::bench {

namespace {

struct Named {
    const char* name;
    const char* role;
    ContenderPointer (*make)(const AlltoallSetup&, SetupTimes&);
};

// The baseline is what everybody calls. Other calls of MPI are its peers; the rest is written here.
constexpr Named ways[] = {
    {"mpi_alltoall", "baseline", make_mpi_alltoall},
    {"mpi_alltoall_init", "peer", make_mpi_alltoall_init},
    {"mpi_ialltoall", "peer", make_mpi_ialltoall},
    {"mpi_alltoallv", "peer", make_mpi_alltoallv},
    {"pairwise", "own", make_pairwise},
    {"spread_out", "own", make_spread_out},
    {"spread_out_init", "own", make_spread_out_init},
    {"bruck", "own", make_bruck},
    {"node_aware", "own", make_node_aware},
};

ContenderPointer make_planted_fault(const AlltoallSetup& setup, SetupTimes& times) {
    auto right = make_pairwise(setup, times);
    return std::make_unique<PlantedFault>(std::move(right),
                                          is_last_rank(setup.comm) ? setup.buffers->receive(0) : nullptr);
}

}  // namespace

std::vector<Entry> alltoall_contenders(const AlltoallSetup& setup) {
    std::vector<Entry> entries;
    for (const Named& way : ways)
        entries.push_back({way.name, way.role, [=](SetupTimes& times) { return way.make(setup, times); }});
    entries.push_back(
        {"planted_fault", "baseline", [=](SetupTimes& times) { return make_planted_fault(setup, times); }, true});
    return entries;
}

}  // namespace parhelion::bench

#include "alltoall/node_map.hpp"

#include <algorithm>

namespace parhelion::bench {

namespace {

std::vector<int> first_rank_of_every_rank(const Communicator& comm) {
    int first = comm.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.node().handle());
    std::vector<int> all(static_cast<std::size_t>(comm.size()));
    MPI_Allgather(&first, 1, MPI_INT, all.data(), 1, MPI_INT, comm.handle());
    return all;
}

}  // namespace

NodeMap::NodeMap(const Communicator& comm) {
    const std::vector<int> first_of = first_rank_of_every_rank(comm);
    for (int rank = 0; rank < comm.size(); ++rank) {
        const int first = first_of[static_cast<std::size_t>(rank)];
        auto node = std::find_if(members.begin(), members.end(),
                                 [&](const auto& ranks) { return ranks[0] == first; });
        if (node == members.end()) node = members.emplace(members.end());
        node->push_back(rank);
        if (rank == comm.rank()) mine = static_cast<int>(node - members.begin());
    }
}

}  // namespace parhelion::bench

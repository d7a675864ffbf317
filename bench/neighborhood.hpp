#pragma once

#include <mpi.h>

#include <vector>

namespace parhelion::bench {

/// A distributed-graph communicator in the caller's order of neighbors, freed with its holder.
/// Making it is collective.
class Neighborhood {
public:
    Neighborhood(MPI_Comm comm, const std::vector<int>& sources, const std::vector<int>& targets) {
        // MPICH wants weights to be MPI_UNWEIGHTED even where there is no neighbor; reserved
        // storage keeps data() valid.
        const std::vector<int> from = padded(sources), to = padded(targets);
        MPI_Dist_graph_create_adjacent(comm, static_cast<int>(sources.size()), from.data(),
                                       MPI_UNWEIGHTED, static_cast<int>(targets.size()), to.data(),
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_);
    }
    ~Neighborhood() { MPI_Comm_free(&comm_); }
    Neighborhood(const Neighborhood&) = delete;
    Neighborhood& operator=(const Neighborhood&) = delete;

    MPI_Comm get() const { return comm_; }

private:
    static std::vector<int> padded(std::vector<int> ranks) {
        ranks.push_back(0);
        return ranks;
    }
    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace parhelion::bench

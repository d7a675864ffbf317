#include <numeric>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/graph.hpp"
#include "parhelion/placement/placed_comm.hpp"

namespace parhelion::placement {
namespace {

// All ranks' values behind each other, and where each rank's begin; at rank 0.
template <class T>
std::vector<T> gather(const Communicator& comm, const std::vector<T>& own,
                      std::vector<int>& starts) {
    const auto width = static_cast<int>(sizeof(T));
    int bytes = static_cast<int>(own.size()) * width;
    std::vector<int> sizes(static_cast<std::size_t>(comm.size()));
    check_mpi(MPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm.handle()),
              "MPI_Gather");
    starts.assign(static_cast<std::size_t>(comm.size()) + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), starts.begin() + 1);
    std::vector<T> all(comm.rank() == 0 ? static_cast<std::size_t>(starts.back() / width) : 0);
    check_mpi(MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), starts.data(),
                          MPI_BYTE, 0, comm.handle()),
              "MPI_Gatherv");
    for (auto& start : starts) start /= width;
    return all;
}

std::vector<PartEdges> gather_graph(const Communicator& comm, const PartEdges& own) {
    std::vector<int> starts;
    const auto bytes = gather(comm, own.bytes, starts);
    const auto parts = gather(comm, own.part, starts);
    std::vector<PartEdges> graph;
    for (int r = 0; comm.rank() == 0 && r < comm.size(); ++r) {
        const auto first = starts[static_cast<std::size_t>(r)],
                   last = starts[static_cast<std::size_t>(r) + 1];
        graph.push_back({{parts.begin() + first, parts.begin() + last},
                         {bytes.begin() + first, bytes.begin() + last}});
    }
    return graph;
}

}  // namespace

MPI_Comm place_parts(MPI_Comm parent, const PartEdges& own, Objective objective, int node_color) {
    const Communicator comm(parent);
    return collectively(comm, "place_parts", [&]() -> MPI_Comm {
        validate_together(comm, [&] {
            if (own.part.size() != own.bytes.size())
                throw Error(std::to_string(own.part.size()) + " neighbors with " +
                            std::to_string(own.bytes.size()) + " byte counts: give one for each");
        });
        const Discovered found = discover(comm.handle(), node_color);
        const auto graph = gather_graph(comm, own);
        std::vector<int> part_at(static_cast<std::size_t>(comm.rank() == 0 ? comm.size() : 0));
        validate_together(comm, [&] {
            if (comm.rank() != 0) return;
            const auto placed = place_graph(found.machine, graph, objective);
            for (std::size_t p = 0; p < placed.position_of_part.size(); ++p)
                part_at[static_cast<std::size_t>(placed.position_of_part[p])] = static_cast<int>(p);
        });
        // Rank 0 answers in the order of ranks, so it needs everybody's position.
        std::vector<int> positions(part_at.size()), answers;
        check_mpi(
            MPI_Gather(&found.position, 1, MPI_INT, positions.data(), 1, MPI_INT, 0, comm.handle()),
            "MPI_Gather");
        for (const int position : positions)
            answers.push_back(part_at[static_cast<std::size_t>(position)]);
        int part = 0;
        check_mpi(MPI_Scatter(answers.data(), 1, MPI_INT, &part, 1, MPI_INT, 0, comm.handle()),
                  "MPI_Scatter");
        MPI_Comm placed = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split(comm.handle(), 0, part, &placed), "MPI_Comm_split");
        return placed;
    });
}

}  // namespace parhelion::placement

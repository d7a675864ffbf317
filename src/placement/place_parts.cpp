#include "core/collective_step.hpp"

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/graph.hpp"
#include "parhelion/placement/placed_comm.hpp"

namespace parhelion::placement {
namespace {

std::vector<PartEdges> gather_graph(const Communicator& comm, const PartEdges& own) {
    const auto gathered = [&](const auto& values) {
        Message message;
        message.append(values.data(), values.size());
        return gather(comm, std::move(message));
    };
    const auto parts = gathered(own.part), bytes = gathered(own.bytes);
    std::vector<PartEdges> graph;
    for (std::size_t r = 0; r < parts.size(); ++r)
        graph.push_back({parts[r].values<int>(), bytes[r].values<std::int64_t>()});
    return graph;
}

}  // namespace

MPI_Comm place_parts(MPI_Comm parent, const PartEdges& own, Objective objective, int node_color) {
    const Communicator comm(parent);
    return collectively(comm, "place_parts", [&]() -> MPI_Comm {
        validate_together(comm, [&] {
            if (own.part.size() != own.bytes.size())
                throw Error(concat(own.part.size(), " neighbors with ", own.bytes.size(),
                                   " byte counts: give one for each"));
        });
        const Discovered found = discover(comm, node_color);
        const auto graph = gather_graph(comm, own);
        Message part_at;
        validate_together(comm, [&] {
            if (comm.rank() != 0) return;
            const auto placed = place_graph(found.machine, graph, objective);
            std::vector<int> parts(placed.position_of_part.size());
            for (std::size_t p = 0; p < parts.size(); ++p)
                parts[placed.position_of_part[p]] = static_cast<int>(p);
            part_at.append(parts.data(), parts.size());
        });
        const auto parts = broadcast(comm, std::move(part_at)).values<int>();
        const int part = parts[found.position];
        return split(comm, comm.handle(), 0, part);
    });
}

}  // namespace parhelion::placement

#include "levels.hpp"

#include <algorithm>

namespace parhelion::bench {

namespace {

bool is_known(const Communicator& comm, const Traffic& traffic) {
    int unknown = traffic.bytes > 0 && traffic.sent.empty();
    MPI_Allreduce(MPI_IN_PLACE, &unknown, 1, MPI_INT, MPI_MAX, comm.handle());
    return unknown == 0;
}

}  // namespace

Levels::Levels(const Communicator& comm)
    : comm_(comm), here_(placement::discover(comm.handle())),
      positions_(static_cast<std::size_t>(comm.size())) {
    MPI_Allgather(&here_.position, 1, MPI_INT, positions_.data(), 1, MPI_INT, comm.handle());
    names_.push_back("own_rank");
    const auto& levels = here_.machine.level_names();
    names_.insert(names_.end(), levels.rbegin(), levels.rend());
    names_.push_back("other_node");
}

std::size_t Levels::level_of(int rank) const {
    if (rank == comm_.rank()) return 0;
    const int levels = here_.machine.levels();
    for (int l = levels - 1; l >= 0; --l)
        if (here_.machine.unit_of(l, positions_[static_cast<std::size_t>(rank)]) ==
            here_.machine.unit_of(l, here_.position))
            return static_cast<std::size_t>(levels - l);
    return names_.size() - 1;
}

Levels::Sum Levels::busiest(Sum leaving) const {
    std::vector<Sum> by_node(static_cast<std::size_t>(here_.machine.nodes()));
    by_node[static_cast<std::size_t>(here_.machine.node_of(here_.position))] = leaving;
    MPI_Allreduce(MPI_IN_PLACE, by_node.data(), 2 * here_.machine.nodes(), MPI_INT64_T, MPI_SUM,
                  comm_.handle());
    Sum most;
    for (const Sum& node : by_node)
        most = {std::max(most.messages, node.messages), std::max(most.bytes, node.bytes)};
    return most;
}

nlohmann::json Levels::count(const Traffic& traffic) const {
    if (!is_known(comm_, traffic)) return nullptr;
    std::vector<Sum> sums(names_.size());
    for (const Sent& sent : traffic.sent) sums[level_of(sent.rank)].add(sent);
    const Sum most = busiest(sums.back());
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2 * static_cast<int>(sums.size()), MPI_INT64_T,
                  MPI_SUM, comm_.handle());
    nlohmann::json told;
    for (std::size_t l = 0; l < sums.size(); ++l)
        told[names_[l]] = {{"messages", sums[l].messages}, {"bytes", sums[l].bytes}};
    told["busiest_node"] = {{"messages", most.messages}, {"bytes", most.bytes}};
    return told;
}

}  // namespace parhelion::bench

#include "samples.hpp"

namespace parhelion::bench {

std::vector<std::vector<double>> samples_by_rank(const std::vector<double>& mine, const Communicator& comm) {
    const std::size_t each = mine.size();
    std::vector<double> all(each * static_cast<std::size_t>(comm.rank() == 0 ? comm.size() : 0));
    MPI_Gather(mine.data(), static_cast<int>(each), MPI_DOUBLE, all.data(), static_cast<int>(each), MPI_DOUBLE, 0, comm.handle());
    std::vector<std::vector<double>> by_rank;
    for (auto first = all.begin(); first != all.end() && each > 0; first += static_cast<std::ptrdiff_t>(each))
        by_rank.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
    return by_rank;
}

}  // namespace parhelion::bench

#include "alltoall/cold_call.hpp"

#include <mpi.h>

#include "alltoall/buffers.hpp"
#include "clock.hpp"

namespace parhelion::bench {

namespace {

constexpr unsigned calls = 10;  // the published test's

// No barrier before the first call: it would make some of the connections.
double timed_call(AlltoallBuffers& buffers, int bytes) {
    double seconds = 0;
    timed(seconds, [&] { MPI_Alltoall(buffers.send(0), bytes, MPI_BYTE, buffers.receive(0), bytes, MPI_BYTE, MPI_COMM_WORLD); });
    return seconds;
}

}  // namespace

nlohmann::json call_while_cold(std::int64_t block_bytes) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    AlltoallBuffers buffers(rank, ranks, static_cast<std::size_t>(block_bytes));
    std::vector<double> seconds;
    std::int64_t wrong = 0;
    for (unsigned call = 1; call <= calls; ++call) {
        buffers.refresh(call);
        if (call > 1) MPI_Barrier(MPI_COMM_WORLD);
        seconds.push_back(timed_call(buffers, static_cast<int>(block_bytes)));
        wrong += buffers.count_wrong(call);
    }
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(calls), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const double first = seconds.front();
    seconds.erase(seconds.begin());
    return {{"size", block_bytes}, {"first_s", first}, {"later_s", seconds}, {"verified", wrong == 0}};
}

}  // namespace parhelion::bench

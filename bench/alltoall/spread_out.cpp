#include "alltoall/on_buffers.hpp"
#include "alltoall/ways.hpp"
#include "clock.hpp"
#include "requests.hpp"

namespace parhelion::bench {

namespace {

constexpr int tag_of_spreading = 42;

class SpreadOut : public OnBuffers {
public:
    explicit SpreadOut(const AlltoallSetup& setup)
        : OnBuffers(setup), requests_(2 * static_cast<std::size_t>(ranks() - 1)) {}

    void exchange() override {
        auto* request = requests_.data();
        for (int step = 1; step < ranks(); ++step) {
            const int from = (rank() - step + ranks()) % ranks();
            MPI_Irecv(receive(from), count(), MPI_BYTE, from, tag_of_spreading, comm(), request++);
        }
        for (int step = 1; step < ranks(); ++step) {
            const int to = (rank() + step) % ranks();
            MPI_Isend(send(to), count(), MPI_BYTE, to, tag_of_spreading, comm(), request++);
        }
        copy_own_block();
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    std::vector<MPI_Request> requests_;
};

class SpreadOutInit : public OnBuffers {
public:
    explicit SpreadOutInit(const AlltoallSetup& setup) : OnBuffers(setup) {
        for (int step = 1; step < ranks(); ++step) {
            const int from = (rank() - step + ranks()) % ranks();
            MPI_Recv_init(receive(from), count(), MPI_BYTE, from, tag_of_spreading, comm(), requests_.add());
        }
        for (int step = 1; step < ranks(); ++step) {
            const int to = (rank() + step) % ranks();
            MPI_Send_init(send(to), count(), MPI_BYTE, to, tag_of_spreading, comm(), requests_.add());
        }
    }

    void exchange() override {
        requests_.start_all();
        copy_own_block();
        requests_.wait_all();
    }

private:
    PersistentRequests requests_;
};

}  // namespace

ContenderPointer make_spread_out(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<SpreadOut>(setup); });
}

ContenderPointer make_spread_out_init(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<SpreadOutInit>(setup); });
}

}  // namespace parhelion::bench

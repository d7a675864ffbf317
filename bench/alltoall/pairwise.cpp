#include "alltoall/on_buffers.hpp"
#include "alltoall/ways.hpp"
#include "clock.hpp"

namespace parhelion::bench {

namespace {

constexpr int tag_of_pairwise = 41;

class Pairwise : public OnBuffers {
public:
    using OnBuffers::OnBuffers;

    void exchange() override {
        copy_own_block();
        const bool power_of_two = (ranks() & (ranks() - 1)) == 0;
        for (int step = 1; step < ranks(); ++step) {
            if (power_of_two)
                exchange_with(rank() ^ step, rank() ^ step);
            else
                exchange_with((rank() + step) % ranks(), (rank() - step + ranks()) % ranks());
        }
    }

private:
    void exchange_with(int to, int from) {
        MPI_Sendrecv(send(to), count(), MPI_BYTE, to, tag_of_pairwise, receive(from), count(), MPI_BYTE, from, tag_of_pairwise, comm(),
                     MPI_STATUS_IGNORE);
    }
};

}  // namespace

ContenderPointer make_pairwise(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<Pairwise>(setup); });
}

}  // namespace parhelion::bench

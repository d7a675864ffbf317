#include <climits>

#include "alltoall/ways.hpp"
#include "errors.hpp"

namespace parhelion::bench {

namespace {

constexpr int tag_of_bruck = 43;

/// Slot i of `slots_` holds the block that still has i ranks to go, counted upwards from its
/// sender. In the phase of distance d every slot with bit d moves on by d ranks; at the end slot i
/// holds what came from rank - i.
class Bruck : public OnBuffers {
public:
    explicit Bruck(const AlltoallSetup& setup)
        : OnBuffers(setup), slots_(1, all_bytes()), packed_(1, all_bytes()),
          arrived_(1, all_bytes()) {}

    void exchange() override {
        for (int i = 0; i < ranks(); ++i) copy(slot(i), send((rank() + i) % ranks()));
        for (int distance = 1; distance < ranks(); distance *= 2) move_on(distance);
        for (int i = 0; i < ranks(); ++i) copy(receive((rank() - i + ranks()) % ranks()), slot(i));
    }

    Traffic traffic() const override {
        Traffic total;
        for (int distance = 1; distance < ranks(); distance *= 2, ++total.messages)
            for (int i = 0; i < ranks(); ++i)
                if (i & distance) total.bytes += static_cast<std::int64_t>(block_bytes());
        return total;
    }

private:
    std::size_t all_bytes() const { return static_cast<std::size_t>(ranks()) * block_bytes(); }
    std::byte* slot(int i) const {
        return slots_.block(0) + static_cast<std::size_t>(i) * block_bytes();
    }
    void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, block_bytes()); }

    void move_on(int distance) {
        std::byte* end = packed_.block(0);
        for (int i = 0; i < ranks(); ++i)
            if (i & distance) copy(end, slot(i)), end += block_bytes();
        const int bytes = static_cast<int>(end - packed_.block(0));
        MPI_Sendrecv(packed_.block(0), bytes, MPI_BYTE, (rank() + distance) % ranks(), tag_of_bruck,
                     arrived_.block(0), bytes, MPI_BYTE, (rank() - distance + ranks()) % ranks(),
                     tag_of_bruck, comm(), MPI_STATUS_IGNORE);
        const std::byte* next = arrived_.block(0);
        for (int i = 0; i < ranks(); ++i)
            if (i & distance) copy(slot(i), next), next += block_bytes();
    }

    PrivateMemory slots_, packed_, arrived_;
};

}  // namespace

ContenderPointer make_bruck(const AlltoallSetup& setup, SetupTimes& times) {
    const auto bytes = static_cast<double>(setup.buffers->ranks()) *
                       static_cast<double>(setup.buffers->block_bytes());
    if (bytes > INT_MAX)
        throw CannotRun("a message of half the blocks would be larger than 31 bits can count");
    return make_way<Bruck>(setup, times);
}

}  // namespace parhelion::bench

#pragma once

#include "alltoall/buffers.hpp"
#include "clock.hpp"

namespace parhelion::bench {

/// What all the ways of an alltoall share: the case's buffers, and one message to every other rank
/// unless told otherwise.
class OnBuffers : public Contender {
public:
    explicit OnBuffers(const AlltoallSetup& setup) : comm_(setup.comm), buffers_(setup.buffers) {}

    Values& values() override { return *buffers_; }
    Traffic traffic() const override {
        const std::int64_t others = ranks() - 1;
        return {others * static_cast<std::int64_t>(block_bytes()), others};
    }

protected:
    MPI_Comm comm() const { return comm_; }
    int rank() const { return buffers_->rank(); }
    int ranks() const { return buffers_->ranks(); }
    std::size_t block_bytes() const { return buffers_->block_bytes(); }
    int count() const {
        return static_cast<int>(block_bytes());
    }  // a case's size fits, see case.cpp
    std::byte* send(int to) const { return buffers_->send(to); }
    std::byte* receive(int from) const { return buffers_->receive(from); }

private:
    MPI_Comm comm_;
    std::shared_ptr<AlltoallBuffers> buffers_;
};

/// Collective; what it takes is added to `times.plan`.
template <class Way>
ContenderPointer make_way(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<Way>(setup); });
}

/// Logarithmically many messages, each of half the data (Bruck et al., IEEE TPDS 1997): for small
/// blocks.
ContenderPointer make_bruck(const AlltoallSetup& setup, SetupTimes& times);

/// Through shared memory inside a node, and one message per pair of nodes between them.
ContenderPointer make_node_aware(const AlltoallSetup& setup, SetupTimes& times);

}  // namespace parhelion::bench

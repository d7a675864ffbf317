#pragma once

#include "alltoall/buffers.hpp"

namespace parhelion::bench {

/// What all the ways of an alltoall share: the case's buffers, and one message to every other rank unless told otherwise.
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
    int count() const { return static_cast<int>(block_bytes()); }  // a case's size fits, see case.cpp
    std::byte* send(int to) const { return buffers_->send(to); }
    std::byte* receive(int from) const { return buffers_->receive(from); }
    void copy_own_block() const;

private:
    MPI_Comm comm_;
    std::shared_ptr<AlltoallBuffers> buffers_;
};

}  // namespace parhelion::bench

#pragma once

#include "memory.hpp"
#include "parhelion/core/communicator.hpp"
#include "shared_window.hpp"
#include "spin.hpp"

namespace parhelion::bench {

/// The arrays of all ranks of a node, open to each of them, and one flag per rank.
class OpenMemory : public Memory {
public:
    /// Collective. Throws CannotRun on every rank when the ranks are on several nodes.
    /// `bytes` of a block may differ between ranks.
    OpenMemory(const Communicator& comm, int blocks, std::size_t bytes);

    std::byte* block(int index) const override { return block_of(rank_, index); }
    std::byte* block_of(int rank, int index) const;

    /// Sets this rank's flag; waits until another rank's flag was set so.
    void post(std::uint32_t step) const;
    void wait_for(int rank, std::uint32_t step) const;

private:
    Flag& flag_of(int rank) const { return *reinterpret_cast<Flag*>(window_.of(rank)); }

    int rank_;
    bool crowded_;                    // more ranks than cores
    std::vector<std::size_t> bytes_;  // distance of blocks, by rank
    SharedWindow window_;
};

}  // namespace parhelion::bench

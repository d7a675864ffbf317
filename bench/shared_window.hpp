#pragma once

#include <mpi.h>

#include <cstddef>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Memory that all ranks of a communicator can load from and store to. Collective to make and to destroy.
class SharedWindow {
public:
    /// The ranks of `comm` must be on one node.
    SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine);
    ~SharedWindow() { MPI_Win_free(&window_); }
    SharedWindow(const SharedWindow&) = delete;
    SharedWindow& operator=(const SharedWindow&) = delete;

    /// Start of what `rank` holds, at least on a cache line of its own.
    std::byte* of(int rank) const;

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace parhelion::bench

#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Memory that all ranks of a communicator can load from and store to. Collective to make and to
/// destroy.
///
/// It is mapped past MPI, so that MPI may be measured with its own shared memory switched off
/// (MPICH then gives no window either). Where the kernel does not let ranks map each other's
/// memory, it is a window of MPI.
class SharedWindow {
public:
    /// The ranks of `comm` must be on one node.
    SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine);
    ~SharedWindow();
    SharedWindow(const SharedWindow&) = delete;
    SharedWindow& operator=(const SharedWindow&) = delete;

    /// Start of what `rank` holds, at least on a cache line of its own.
    std::byte* of(int rank) const { return parts_[static_cast<std::size_t>(rank)].get(); }

private:
    bool map_parts(MPI_Comm comm, std::size_t bytes);
    void make_window(MPI_Comm comm, std::size_t bytes);

    std::vector<std::shared_ptr<std::byte>> parts_;
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace parhelion::bench

#pragma once

#include "shared_window.hpp"
#include "spin.hpp"

namespace parhelion::bench {

/// A barrier that lets all ranks go nearly at once and leaves none of them busy: ranks that still
/// spin in MPI_Barrier while others have left it steal the cores of those that are being timed, by
/// milliseconds where ranks outnumber cores.
class StartLine {
public:
    /// Collective.
    explicit StartLine(const Communicator& comm);
    ~StartLine();
    StartLine(const StartLine&) = delete;
    StartLine& operator=(const StartLine&) = delete;

    /// Collective. Returns when every rank has called it.
    void wait();

    /// Collective. How far apart it may let hosts go: what a barrier takes between them, the same
    /// on all ranks. 0 with one host.
    double hosts_apart();

private:
    void arrive();
    void wait_for_all_of_node();
    void release_node();

    MPI_Comm comm_;
    Communicator node_;
    bool crowded_;
    MPI_Comm leaders_ = MPI_COMM_NULL;  // first ranks of the nodes
    SharedWindow window_;
    Flag* arrived_;   // ranks of the node but the first, counted on and on
    Flag* released_;  // starts so far
    std::uint32_t starts_ = 0;
};

}  // namespace parhelion::bench

#pragma once

#include <memory>
#include <optional>

#include "launch.hpp"
#include "memory.hpp"

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
    MPI_Comm comm_;
    Communicator node_;
    bool crowded_;
    MPI_Comm leaders_ = MPI_COMM_NULL;  // first ranks of the nodes
    SharedWindow window_;
    Flag* arrived_;   // ranks of the node but the first, counted on and on
    Flag* released_;  // starts so far
    std::uint32_t starts_ = 0;
};

/// How long a flag takes from rank 0 to rank 1: it tells how near to each other their cores are
/// just now, which changes on virtual machines and sways every comparison. Measured only where both
/// are on one node and on cores of their own.
class FlagProbe {
public:
    /// Collective.
    FlagProbe(const Communicator& comm, const Binding& binding);
    ~FlagProbe();
    FlagProbe(const FlagProbe&) = delete;
    FlagProbe& operator=(const FlagProbe&) = delete;

    /// Ranks 0 and 1 together, others return at once. One-way latency in ns on rank 0; nothing
    /// elsewhere, where the probe cannot run, or when the other rank did not answer within some
    /// milliseconds.
    std::optional<double> measure();

private:
    std::optional<double> ping(std::uint32_t first, double deadline);
    void answer(std::uint32_t first, double deadline);

    MPI_Comm pair_ = MPI_COMM_NULL;
    std::unique_ptr<SharedWindow> window_;
    Flag* flags_[2] = {nullptr, nullptr};  // what rank 0 and rank 1 post
    int rank_ = -1;
    std::uint32_t probes_ = 0;
};

}  // namespace parhelion::bench

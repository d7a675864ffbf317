#pragma once

#include <memory>
#include <optional>

#include "binding.hpp"
#include "shared_window.hpp"
#include "spin.hpp"

namespace parhelion::bench {

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

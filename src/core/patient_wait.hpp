// Waiting for all ranks while something is made.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>

#include "core/cores.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// How a rank that has ended is noticed during set-up (Communicator::shared_state): given by
/// whoever can tell, once it can.
struct Lookout {
    explicit Lookout(const Communicator&) {}
    std::function<int()> lost;      ///< a rank that has ended, or −1
    std::function<void(int)> tell;  ///< lets neighbors know of it
};

/// Gives the core away as Patience does, and looks for lost ranks and at the time limit ten times a
/// second.
class PatientWait {
public:
    explicit PatientWait(const Communicator& comm) : comm_(comm) {}
    /// Call when a poll found nothing. Throws LostRank, and Error when it takes longer than the
    /// time limit or another rank has given up: then ranks tell each other in which call they wait.
    void wait() {
        patience_.wait();
        if (++polls_ % 64 == 0) look();
    }

private:
    void look();
    void look_for_lost();
    const Communicator& comm_;
    Patience patience_;
    std::uint64_t polls_ = 0;
    int suspect_ = -1;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now(),
                                          looked_ = since_;
};

/// Collective. MPI_Allreduce that ends when a rank is lost, and when one does not come within the
/// time limit (PatientWait).
void allreduce(const Communicator& comm, const void* mine, void* all, int count, MPI_Datatype type,
               MPI_Op operation);

}  // namespace parhelion

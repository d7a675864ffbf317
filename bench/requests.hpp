#pragma once

#include <mpi.h>

#include <vector>

namespace parhelion::bench {

/// Persistent requests, freed with their holder. They must be complete by then.
class PersistentRequests {
public:
    PersistentRequests() = default;
    PersistentRequests(const PersistentRequests&) = delete;
    PersistentRequests& operator=(const PersistentRequests&) = delete;
    ~PersistentRequests() {
        for (MPI_Request& request : requests_) MPI_Request_free(&request);
    }

    /// A place for one more request, to pass to MPI_Send_init and the like.
    MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

    int size() const { return static_cast<int>(requests_.size()); }
    void start(std::size_t which) { MPI_Start(&requests_[which]); }
    void start_all() {
        if (size() > 0) MPI_Startall(size(), requests_.data());
    }
    void wait_all() { MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE); }
    /// The index of one that has ended; MPI_UNDEFINED when none is active.
    int wait_any() {
        int which = MPI_UNDEFINED;
        MPI_Waitany(size(), requests_.data(), &which, MPI_STATUS_IGNORE);
        return which;
    }

private:
    std::vector<MPI_Request> requests_;
};

}  // namespace parhelion::bench

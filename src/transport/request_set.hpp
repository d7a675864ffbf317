// Requests of one direction, as the MPI transports use them.
#pragma once

#include <mpi.h>

#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion {

/// Requests with the channel that each belongs to. Frees persistent ones that are still there.
class RequestSet {
public:
    RequestSet() = default;
    RequestSet(const RequestSet&) = delete;
    RequestSet& operator=(const RequestSet&) = delete;
    ~RequestSet() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized) return;
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    MPI_Request& add(int channel) {
        channels_.push_back(channel);
        return requests_.emplace_back(MPI_REQUEST_NULL);
    }
    MPI_Request& operator[](std::size_t i) { return requests_[i]; }
    int size() const { return static_cast<int>(requests_.size()); }
    int channel(int i) const { return channels_[static_cast<std::size_t>(i)]; }

    void start_all() {
        if (size() > 0) check_mpi(MPI_Startall(size(), requests_.data()), "MPI_Startall");
    }
    /// MPI_Startall may start them in any order, which decides what messages of one tag go where.
    void start_in_order() {
        for (MPI_Request& request : requests_) check_mpi(MPI_Start(&request), "MPI_Start");
    }
    /// Index of a request that has completed since the last call, or −1.
    int test_any() {
        int index = MPI_UNDEFINED, flag = 0;
        check_mpi(MPI_Testany(size(), requests_.data(), &index, &flag, MPI_STATUS_IGNORE), "MPI_Testany");
        return flag && index != MPI_UNDEFINED ? index : -1;
    }
    bool test_all() {
        if (size() == 0) return true;
        int flag = 0;
        check_mpi(MPI_Testall(size(), requests_.data(), &flag, MPI_STATUSES_IGNORE), "MPI_Testall");
        return flag != 0;
    }

private:
    std::vector<MPI_Request> requests_;
    std::vector<int> channels_;
};

}  // namespace parhelion

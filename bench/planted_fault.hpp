#pragma once

#include <mpi.h>

#include <cstddef>

#include "contender.hpp"

namespace parhelion::bench {

/// A right contender made wrong in one byte of the last rank: shows that the checks notice and that
/// the program then ends with status 1. It runs only where a job names it.
class PlantedFault : public Contender {
public:
    PlantedFault(std::unique_ptr<Contender> right, std::byte* victim)
        : right_(std::move(right)), victim_(victim) {}

    void exchange() override {
        right_->exchange();
        if (victim_) *victim_ ^= std::byte{1};
    }
    Values& values() override { return right_->values(); }
    Traffic traffic() const override { return right_->traffic(); }

private:
    std::unique_ptr<Contender> right_;
    std::byte* victim_;  // null on the ranks without fault
};

inline bool is_last_rank(MPI_Comm comm) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return rank + 1 == size;
}

}  // namespace parhelion::bench

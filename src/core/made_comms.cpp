#include "core/made_comms.hpp"

#include "parhelion/core/error.hpp"

namespace parhelion {

MadeComms::~MadeComms() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    for (Made& made : all_) MPI_Comm_free(&made.comm);
}

void MadeComms::free_dropped(const Communicator& comm) {
    if (all_.empty()) return;  // on all ranks
    std::vector<int> dropped;
    for (const Made& made : all_) dropped.push_back(made.dropped->load(std::memory_order_relaxed));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, dropped.data(), static_cast<int>(dropped.size()), MPI_INT,
                            MPI_MIN, comm.handle()),
              "MPI_Allreduce");
    std::vector<Made> left;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (dropped[i]) check_mpi(MPI_Comm_free(&all_[i].comm), "MPI_Comm_free");
        else left.push_back(std::move(all_[i]));
    }
    all_ = std::move(left);
}

MadeComms::Use MadeComms::add(MPI_Comm made) {
    all_.push_back({made, std::make_shared<std::atomic<bool>>(false)});
    return Use(all_.back().dropped);
}

}  // namespace parhelion

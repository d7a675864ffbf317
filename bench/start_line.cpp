#include "start_line.hpp"

#include <algorithm>
#include <new>

#include "binding.hpp"
#include "clock.hpp"

namespace parhelion::bench {

StartLine::StartLine(const Communicator& comm)
    : comm_(comm.handle()), node_(comm.node()), crowded_(more_ranks_than_cpus(node_)),
      window_(node_.handle(), 2 * sizeof(Flag)) {
    MPI_Comm_split(comm.handle(), node_.rank() == 0 ? 0 : MPI_UNDEFINED, comm.rank(), &leaders_);
    arrived_ = reinterpret_cast<Flag*>(window_.of(0));
    released_ = arrived_ + 1;
    if (node_.rank() == 0) new (arrived_) Flag{}, new (released_) Flag{};
    MPI_Barrier(comm.handle());
}

StartLine::~StartLine() {
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

void StartLine::wait() {
    ++starts_;
    if (node_.rank() != 0) return arrive();
    wait_for_all_of_node();
    MPI_Barrier(leaders_);
    release_node();
}

// Other ranks sleep, or wait without MPI, meanwhile.
double StartLine::hosts_apart() {
    constexpr int tries = 5;
    wait();
    int hosts = 1;
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_size(leaders_, &hosts);
    double least = 1e300;
    for (int i = 0; i < tries && hosts > 1; ++i) {
        const double start = now();
        MPI_Barrier(leaders_);
        least = std::min(least, now() - start);
    }
    wait();
    double apart = hosts > 1 ? least : 0;
    MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return apart;
}

void StartLine::arrive() {
    arrived_->count_one_more(crowded_);
    crowded_ ? released_->sleep_until(starts_) : released_->wait_for(starts_);
}

void StartLine::wait_for_all_of_node() {
    const std::uint32_t all = starts_ * static_cast<std::uint32_t>(node_.size() - 1);
    crowded_ ? arrived_->sleep_until(all) : arrived_->wait_for(all);
}

void StartLine::release_node() {
    crowded_ ? released_->post_and_wake(starts_) : released_->post(starts_);
}

}  // namespace parhelion::bench

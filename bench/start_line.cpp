#include "start_line.hpp"

#include <new>

#include "binding.hpp"

namespace parhelion::bench {

StartLine::StartLine(const Communicator& comm)
    : node_(comm.node()), crowded_(more_ranks_than_cpus(node_)), window_(node_.handle(), 2 * sizeof(Flag)) {
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

void StartLine::arrive() {
    arrived_->count_one_more(crowded_);
    crowded_ ? released_->sleep_until(starts_) : released_->wait_for(starts_);
}

void StartLine::wait_for_all_of_node() {
    const std::uint32_t all = starts_ * static_cast<std::uint32_t>(node_.size() - 1);
    crowded_ ? arrived_->sleep_until(all) : arrived_->wait_for(all);
}

void StartLine::release_node() { crowded_ ? released_->post_and_wake(starts_) : released_->post(starts_); }

}  // namespace parhelion::bench

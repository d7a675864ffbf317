#include "transport/node/node_context.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

// Cores that at least one rank of the node may run on.
int usable_cores(const Communicator& node) {
    constexpr int words = static_cast<int>(sizeof(cpu_set_t) / sizeof(std::uint64_t));
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    cpu_set_t all;
    check_mpi(MPI_Allreduce(&mine, &all, words, MPI_UINT64_T, MPI_BOR, node.handle()), "MPI_Allreduce");
    return CPU_COUNT(&all);
}

}  // namespace

NodeNeighbor::NodeNeighbor(int rank_, const RemotePlace& place)
    : rank(rank_), process(place.process),
      process_descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(place.process), 0))) {
    const std::shared_ptr<std::byte> mapped = map_place(place);
    postbox = {mapped, reinterpret_cast<Postbox*>(mapped.get())};
}

NodeNeighbor::~NodeNeighbor() {
    if (process_descriptor >= 0) close(process_descriptor);
}

bool NodeNeighbor::alive() const {
    pollfd ended{process_descriptor, POLLIN, 0};
    return process_descriptor < 0 || poll(&ended, 1, 0) == 0;
}

NodeContext::NodeContext(const Communicator& comm) {
    const Communicator& node = comm.node();
    validate_together(comm, [&] {
        const auto memory = allocate_node_shared(sizeof(Postbox));
        postbox_ = {memory, new (memory.get()) Postbox};
    });
    oversubscribed_ = node.size() > usable_cores(node);
}

NodeNeighbor& NodeContext::meet(int rank, const RemotePlace& postbox) {
    const std::lock_guard lock(mutex_);
    auto& known = neighbors_[rank];
    if (!known) known = std::make_unique<NodeNeighbor>(rank, postbox);
    return *known;
}

void NodeContext::check_neighbors(const std::string& while_doing) {
    const std::lock_guard lock(mutex_);
    for (const auto& [rank, neighbor] : neighbors_) {
        int lost = neighbor->postbox->lost_rank.load(std::memory_order_acquire);
        if (lost < 0 && !neighbor->alive()) lost = rank;
        if (lost < 0) continue;
        postbox_->lost_rank.store(lost, std::memory_order_release);
        for (const auto& [other, each] : neighbors_) ring(*each->postbox);
        throw Error("rank " + std::to_string(lost) + " has ended while " + while_doing +
                    ": look for its error message or the system's log (out of memory, a signal) and start the job again",
                    ErrorKind::lost_peer);
    }
}

void NodeContext::add(BackgroundWork* work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(work);
}

void NodeContext::remove(BackgroundWork* work) {
    const std::lock_guard lock(mutex_);
    std::erase(work_, work);
}

bool NodeContext::advance_all() {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (BackgroundWork* work : work_) any = work->advance() || any;
    return any;
}

}  // namespace parhelion

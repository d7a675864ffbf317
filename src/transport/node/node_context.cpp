#include "transport/node/node_context.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <new>

#include "core/mpi_threads.hpp"
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

// Where there is no pidfd (Linux before 5.3, descriptors used up): its state, which stands behind the name in parentheses.
bool runs_by_name(std::int64_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

}  // namespace

NodeNeighbor::NodeNeighbor(int rank_, const RemotePlace& place) : rank(rank_), process(place.process) {
    const std::shared_ptr<std::byte> mapped = map_place(place);
    postbox = {mapped, reinterpret_cast<Postbox*>(mapped.get())};
    process_descriptor = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(place.process), 0));
}

NodeNeighbor::~NodeNeighbor() {
    if (process_descriptor >= 0) close(process_descriptor);
}

bool NodeNeighbor::alive() const {
    if (process_descriptor < 0) return runs_by_name(process);
    pollfd ended{process_descriptor, POLLIN, 0};
    return poll(&ended, 1, 0) == 0;
}

NodeContext::NodeContext(const Communicator& comm) : comm_(comm.handle()) {
    const Communicator& node = comm.node();
    validate_together(comm, [&] {
        const auto memory = allocate_node_shared(sizeof(Postbox));
        postbox_ = {memory, new (memory.get()) Postbox};
    });
    oversubscribed_ = node.size() > usable_cores(node);
}

NodeNeighbor& NodeContext::meet(int rank, const RemotePlace& postbox) {
    const std::lock_guard lock(mutex_);
    if (const auto known = neighbors_.find(rank); known != neighbors_.end()) return *known->second;
    return *neighbors_.emplace(rank, std::make_unique<NodeNeighbor>(rank, postbox)).first->second;
}

// Whatever looks at MPI's queues makes it progress (MPI-4.1 §2.9 asks for no more).
void NodeContext::keep_mpi_going() const {
    int found = 0;
    if (mpi_serves_this_thread())
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
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

}  // namespace parhelion

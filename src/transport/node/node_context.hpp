// What a communicator's ranks on one node know of each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "parhelion/core/communicator.hpp"
#include "parhelion/plan/plan.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

/// Another rank of the node.
struct NodeNeighbor {
    int rank = -1;
    std::int64_t process = 0;
    int process_descriptor = -1;  ///< pidfd: readable once the process has ended
    std::shared_ptr<Mailbox>
        mailbox;  ///< null where it cannot be mapped and only the process is watched

    NodeNeighbor(int rank, std::int64_t process, std::shared_ptr<Mailbox> mailbox);
    NodeNeighbor(const NodeNeighbor&) = delete;
    NodeNeighbor& operator=(const NodeNeighbor&) = delete;
    ~NodeNeighbor();
    /// This rank, or the one because of which it gave up, when one of them has ended; else −1.
    int lost() const;

private:
    bool alive() const;
};

/// One per communicator. Construction is local.
class NodeContext {
public:
    explicit NodeContext(const Communicator& comm);

    Mailbox& mailbox() const { return *mailbox_; }
    RemotePlace mailbox_place() const { return describe_place(mailbox_.get()); }
    /// More ranks on the node than cores that they may use.
    bool oversubscribed() const { return oversubscribed_; }

    /// The neighbor, met once; its mailbox is mapped then. Local. Throws Error when it cannot be
    /// mapped.
    NodeNeighbor& meet(int rank, const RemotePlace& mailbox);

    /// What others on this node need to watch this rank.
    Words record() const;
    /// From now on the neighbor is looked after: met if possible, else its process is watched.
    /// Local.
    void watch(int rank, const Words& record);

    /// Lets MPI get on with whatever is under way, the user's own messages included, if this thread
    /// may call MPI.
    void keep_mpi_going() const;

    /// A rank that has ended: one that this rank knows, or one because of which such a one, or one
    /// elsewhere that told, gave up; −1: none. Local.
    int lost_rank();
    /// Lets others know of a rank because of which this one gives up: its neighbors on the node,
    /// and ranks 1, 2, 4, … further on of the communicator, which do the same when they wait, so
    /// that all who wait know soon. Local.
    void tell_lost(int rank);

private:
    void listen();
    void pass_on(int rank);

    MPI_Comm comm_;
    int rank_, size_;
    std::shared_ptr<Mailbox> mailbox_;
    bool oversubscribed_ = false;
    std::mutex mutex_;
    std::map<int, std::unique_ptr<NodeNeighbor>> neighbors_,
        unreachable_;         // of the latter only the process is watched
    int heard_ = -1;          // the rank that a message named as lost
    std::int64_t told_ = -1;  // in those of this rank; MPI may read it late
};

/// Neighbors on the own node are looked after, whatever moves their data. One per communicator,
/// made before the first plan on it. Construction is local.
class Watch {
public:
    explicit Watch(const Communicator& comm);
    /// What neighbors need to watch this rank: goes along with the headers of make_plan.
    const Words& record() const { return record_; }
    /// Meets the plan's neighbors on this node by the records that came from them. Local.
    void meet(const Plan& plan) const;
    /// Null where nobody can be watched.
    NodeContext* node() const { return node_; }

private:
    NodeContext* node_ = nullptr;
    Words record_;
};

}  // namespace parhelion

// What a communicator's ranks on one node know of each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "parhelion/core/communicator.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

/// Another rank of the node.
struct NodeNeighbor {
    int rank = -1;
    std::int64_t process = 0;
    int process_descriptor = -1;  ///< pidfd: readable once the process has ended
    std::shared_ptr<Postbox> postbox;

    NodeNeighbor(int rank, const RemotePlace& postbox);
    NodeNeighbor(const NodeNeighbor&) = delete;
    NodeNeighbor& operator=(const NodeNeighbor&) = delete;
    ~NodeNeighbor();
    bool alive() const;
};

/// One per communicator. Construction is collective over it.
class NodeContext {
public:
    explicit NodeContext(const Communicator& comm);

    Postbox& postbox() const { return *postbox_; }
    RemotePlace postbox_place() const { return describe_place(postbox_.get()); }
    /// More ranks on the node than cores that they may use.
    bool oversubscribed() const { return oversubscribed_; }

    /// The neighbor, met once; its postbox is mapped then. Local. Throws Error when it cannot be mapped.
    NodeNeighbor& meet(int rank, const RemotePlace& postbox);

    /// Lets MPI get on with whatever is under way, the user's own messages included, if this thread may call MPI.
    void keep_mpi_going() const;

    /// Throws Error when a rank this one knows has ended, or has given up because of another that has. Local.
    void check_neighbors(const std::string& while_doing);

private:
    MPI_Comm comm_;
    std::shared_ptr<Postbox> postbox_;
    bool oversubscribed_ = false;
    std::mutex mutex_;
    std::map<int, std::unique_ptr<NodeNeighbor>> neighbors_;
};

}  // namespace parhelion

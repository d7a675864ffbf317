// What a communicator's ranks on one node know of each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

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

/// Work that a neighbor waits for and that does not depend on which exchange this rank is ending.
class BackgroundWork {
public:
    virtual ~BackgroundWork() = default;
    /// Does what can be done without waiting. May be called by any thread.
    virtual bool advance() = 0;
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

    /// Throws Error when a rank this one knows has ended, or has given up because of another that has. Local.
    void check_neighbors(const std::string& while_doing);

    void add(BackgroundWork* work);
    void remove(BackgroundWork* work);
    /// Advances everything that is under way. Returns whether something moved.
    bool advance_all();

private:
    std::shared_ptr<Postbox> postbox_;
    bool oversubscribed_ = false;
    std::mutex mutex_;
    std::map<int, std::unique_ptr<NodeNeighbor>> neighbors_;
    std::vector<BackgroundWork*> work_;
};

}  // namespace parhelion

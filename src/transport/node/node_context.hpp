// State shared by a communicator's ranks on one node.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "parhelion/plan/plan.hpp"
#include "transport/node/peer_memory.hpp"
#include "transport/node/signals.hpp"

namespace parhelion {

struct NodeNeighbor {
  int rank = -1;
  std::int64_t process = 0;
  int process_descriptor = -1;       ///< pidfd: readable once the process has ended
  std::shared_ptr<Mailbox> mailbox;  ///< null: unmappable, only the process is watched

  NodeNeighbor(int rank, std::int64_t process, std::shared_ptr<Mailbox> mailbox);
  NodeNeighbor(const NodeNeighbor&) = delete;
  NodeNeighbor& operator=(const NodeNeighbor&) = delete;
  ~NodeNeighbor();
  /// This rank, or the one that made it give up, if ended; else −1.
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
  /// More ranks than cores.
  bool oversubscribed() const { return oversubscribed_; }

  /// The neighbor; the first call maps its mailbox. Local. Throws Error.
  NodeNeighbor& meet(int rank, const RemotePlace& mailbox);

  /// For others on the node to watch this rank.
  Words record() const;
  /// Watches the neighbor: by its mailbox if mappable, else its process. Local.
  void watch(int rank, const Words& record);

  /// Progresses all pending MPI operations, the user's too, if this thread may call MPI.
  void keep_mpi_going() const;

  /// A rank that has ended, or is reported to have by a rank that gave up because of it; −1: none.
  /// Local.
  int lost_rank();
  /// Reports a lost rank to the neighbors on the node and to the ranks at distance 1, 2, 4, … in
  /// the communicator, which pass it on: all waiting ranks learn of it soon. Local.
  void tell_lost(int rank);

 private:
  void listen();
  void pass_on(int rank);

  MPI_Comm comm_;
  int rank_, size_;
  std::shared_ptr<Mailbox> mailbox_;
  bool oversubscribed_ = false;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<NodeNeighbor>> neighbors_;
  int heard_ = -1;          // lost rank reported by a message
  std::int64_t told_ = -1;  // send buffer of reports; MPI may read it late
};

/// Watches neighbors on this node, whatever their transport. One per communicator, created before
/// its first plan; construction is local.
class Watch {
 public:
  explicit Watch(const Communicator& comm);
  /// For neighbors to watch this rank; sent in the headers of make_plan.
  const Words& record() const { return record_; }
  /// Watches the plan's neighbors on this node, by their records. Local.
  void meet(const Plan& plan) const;
  /// Null: ranks cannot be watched.
  NodeContext* node() const { return node_; }

 private:
  NodeContext* node_ = nullptr;
  Words record_;
};

}  // namespace parhelion
